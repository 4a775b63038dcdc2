"""Names of file formats and the syntax of tables; imports nothing heavy, because declarations of tasks have it."""

from dataclasses import dataclass

# Formats by the suffix of a file, without its compression.
FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".parquet": "parquet",
    ".conllu": "conllu",
    ".conll": "conll",
    ".bio": "conll",
    ".iob": "conll",
    ".iob2": "conll",
}
# In the order in which messages list them.
FORMAT_NAMES = ("csv", "tsv", "jsonl", "json", "parquet", "conll", "conllu", "squad")


@dataclass(frozen=True)
class TableSyntax:
    """Syntax of a table.

    Attributes:
        format: one of `FORMAT_NAMES`; "" to decide by the file's suffix.
        header: True if the first row of delimited text names the columns.
        delimiter: separator of cells; "" for the format's own: a comma, a tab, or white space in CoNLL.
        quote: quotation mark around cells, "" for none; None for the format's own: `"` in CSV, none in TSV.
    """

    format: str = ""
    header: bool = True
    delimiter: str = ""
    quote: str | None = None
