"""Logs as tables of columns: Parquet files that DuckDB, Polars, Spark and Ray Data open as they are."""

from graphscope.tables.export import export_tables as export_tables
from graphscope.tables.query import query as query
