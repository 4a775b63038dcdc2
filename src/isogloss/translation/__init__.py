"""The same in another language: translators, and the files of translated examples."""
