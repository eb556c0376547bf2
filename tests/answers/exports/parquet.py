# What: the rows of all Parquet files below a folder, as JSON. 77: no engine is here.
# Run:  python3 parquet.py FOLDER
import json
import sys

try:
    import duckdb
except ImportError:
    print("there is no DuckDB (pip install duckdb)")
    sys.exit(77)
found = duckdb.sql(f"select * from read_parquet('{sys.argv[1]}/**/*.parquet', hive_partitioning = false)")
names = found.columns
print(json.dumps([dict(zip(names, row)) for row in found.fetchall()]))
