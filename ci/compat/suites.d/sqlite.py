"""SQLite's shell: a few hundred thousand rows in a file and in memory, with its own checks."""

from run import Failed, Suite

ROWS = """
CREATE TABLE t(id INTEGER PRIMARY KEY, word TEXT, number REAL, blob BLOB);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows})
INSERT INTO t SELECT i, printf('%x-%d', i * 7919 % 65537, i), i * 0.5, zeroblob(i % 97) FROM n;
CREATE INDEX by_word ON t(word);
CREATE INDEX by_number ON t(number, word) WHERE id % 2;
SELECT substr(word, 1, 2) AS head, count(*), sum(length(blob)) FROM t GROUP BY head ORDER BY head;
SELECT a.word FROM t a JOIN t b ON a.id = b.id + 1 WHERE b.word LIKE '1%' ORDER BY a.number DESC LIMIT 2000;
CREATE TABLE changes(id INTEGER, at INTEGER);
CREATE TRIGGER noted AFTER UPDATE ON t BEGIN INSERT INTO changes VALUES (new.id, (SELECT count(*) FROM changes)); END;
UPDATE t SET word = upper(word) || 'x' WHERE id % 1001 = 0;
SELECT count(*), max(at) FROM changes;
BEGIN; DELETE FROM t WHERE id % 5 = 0; SELECT count(*) FROM t; ROLLBACK;
SAVEPOINT a; DELETE FROM t WHERE id % 7 = 0; RELEASE a;
SELECT count(*), sum(id), min(word), max(word) FROM t;
SELECT json_group_array(json_object('id', id, 'word', word)) FROM t WHERE id < 5000;
SELECT id, row_number() OVER (PARTITION BY substr(word, 1, 1) ORDER BY number) FROM t WHERE id % 997 = 0;
PRAGMA integrity_check;
VACUUM;
PRAGMA integrity_check;
PRAGMA foreign_key_check;
SELECT count(*) FROM t;
"""


def work(rows):
    def performed(run):
        results = {}
        for name, file, first in [("file", "a.db", "PRAGMA journal_mode=WAL;"), ("memory", ":memory:", "PRAGMA temp_store=2;")]:
            said = run.must(["sqlite3", "-batch", file], feed=first + ROWS.format(rows=rows))
            if said.splitlines().count("ok") != 2:
                raise Failed(f"integrity_check of {name} does not say ok")
            results.update({f"{name} line {number}": line for number, line in enumerate(said.splitlines())})
        # Another process reads what the first wrote.
        results["dump"] = run.must(["sqlite3", "-batch", "-readonly", "a.db", ".sha3sum"])
        results["backup"] = run.must(["sqlite3", "-batch", "a.db", ".backup b.db", "PRAGMA quick_check"])
        results["the copy's dump"] = run.must(["sqlite3", "-batch", "-readonly", "b.db", ".sha3sum"])
        results["an error"] = str(run.call(["sqlite3", "-batch", "a.db", "SELECT * FROM nothing"]))
        return results
    return performed


SUITES = [
    Suite("sqlite.quick", "suites", work(30_000), is_short=True, images={"sqlite3": 6}),
    Suite("sqlite.rows", "suites", work(400_000), images={"sqlite3": 6}),
]
