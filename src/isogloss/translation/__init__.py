"""Translation: translators, and the files of translated examples."""
