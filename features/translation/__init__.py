"""Translation models of a corpus: IBM 1 and the HMM, in two directions."""
