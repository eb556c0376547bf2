//! A table as the bytes of a Parquet file: one group of rows, compressed by gzip: every
//! engine reads that without a library of the system's.

use std::sync::Arc;

use parquet::basic::{Compression, GzipLevel, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::Result;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};

use super::SCHEMA;
use super::tables::{Column, Table, Values};

const DEFINED: i16 = 1;

/// The same table gives the same bytes.
pub(super) fn bytes(table: &Table) -> Result<Vec<u8>> {
    let columns = table
        .columns
        .iter()
        .map(kind)
        .collect::<Result<Vec<TypePtr>>>()?;
    let schema = Type::group_type_builder(table.name)
        .with_fields(columns)
        .build()?;
    let version = KeyValue::new("memlog.schema".to_owned(), SCHEMA.to_string());
    let properties = WriterProperties::builder()
        .set_created_by(concat!("memlog ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_key_value_metadata(Some(vec![version]));
    // Of one row all that helps to read less is larger than the row.
    let properties = match table.rows() {
        0 | 1 => properties
            .set_dictionary_enabled(false)
            .set_statistics_enabled(EnabledStatistics::None)
            .set_offset_index_disabled(true),
        _ => properties.set_compression(Compression::GZIP(GzipLevel::default())),
    };
    let properties = properties.build();
    let mut bytes = Vec::new();
    let mut file = SerializedFileWriter::new(&mut bytes, Arc::new(schema), Arc::new(properties))?;
    if table.rows() > 0 {
        let mut group = file.next_row_group()?;
        for column in &table.columns {
            if let Some(mut to) = group.next_column()? {
                write(&mut to, &column.values)?;
                to.close()?;
            }
        }
        group.close()?;
    }
    file.close()?;
    Ok(bytes)
}

fn kind(column: &Column) -> Result<TypePtr> {
    let (physical, logical) = match column.values {
        Values::Numbers(_) => (Physical::INT64, None),
        Values::Seconds(_) => (Physical::DOUBLE, None),
        Values::Flags(_) => (Physical::BOOLEAN, None),
        Values::Texts(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
    };
    let kind = Type::primitive_type_builder(column.name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(logical)
        .build()?;
    Ok(Arc::new(kind))
}

fn write(to: &mut SerializedColumnWriter, values: &Values) -> Result<()> {
    match values {
        Values::Numbers(numbers) => put::<Int64Type, _>(to, numbers, |number| *number),
        Values::Seconds(seconds) => put::<DoubleType, _>(to, seconds, |seconds| *seconds),
        Values::Flags(flags) => put::<BoolType, _>(to, flags, |flag| *flag),
        Values::Texts(texts) => {
            put::<ByteArrayType, _>(to, texts, |text| ByteArray::from(text.as_str()))
        }
    }
}

fn put<T: DataType, V>(
    to: &mut SerializedColumnWriter,
    values: &[Option<V>],
    of: impl Fn(&V) -> T::T,
) -> Result<()> {
    let known: Vec<T::T> = values.iter().flatten().map(of).collect();
    let levels = values.iter().map(|value| match value {
        Some(_) => DEFINED,
        None => 0,
    });
    let levels: Vec<i16> = levels.collect();
    to.typed::<T>().write_batch(&known, Some(&levels), None)?;
    Ok(())
}
