"""Text as the library sees it: one normalisation, one tokeniser, string similarity and phonetics."""
