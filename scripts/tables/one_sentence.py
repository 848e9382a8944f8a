"""One sentence pair through all steps."""

import warnings

import aligner
from aligner.model.scoring import score_table
from corpora.links import Links
from tables import ROOT, markdown, table

SAMPLE = ROOT / "corpora" / "sample"
SOURCE, TARGET = "he forgot his keys .", "il a oublié ses clés ."


@table("one-sentence")
def one_sentence() -> str:
    """What the steps compute of the candidates of a sentence pair.

    Counts the sample corpus without its labels, and shows for each candidate Dice, posteriors of IBM Model 1 and of the
    HMM, the score by the default weights, the probability, and whether it is a link.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # without labels the model has the default weights, as it should here
        model = aligner.train([str(SAMPLE / "train.en"), str(SAMPLE / "train.fr")]).model
    source, target = SOURCE.split(), TARGET.split()
    bitext = model.builder().add_pairs([(source, target)]).bitext()
    edges = model.features.extract(bitext, model.statistics)
    pairs = list(zip(edges.lists.source.tolist(), edges.lists.target.tolist(), strict=True))
    signals = [edges.features[:, edges.names.index(name)] for name in ("dice", "lexical_soft", "hmm_soft")]
    scores = score_table(model.weights, edges.features)
    given = model.score_bitext(bitext, Links.from_sets([set(pairs)]))[0]
    probability = dict(zip(given.links, given.scores, strict=True))
    found = model.align(source, target)
    rows = []
    for at, (j, k) in enumerate(pairs):
        computed = [*(f"{signal[at]:.2f}" for signal in signals), f"{scores[at]:.1f}", f"{probability[j, k]:.3f}"]
        rows.append([source[j], target[k], *computed, f"{j}-{k}" if (j, k) in found else ""])
    header = ["source", "target", "Dice", "IBM Model 1", "HMM", "score", "probability", "link"]
    return markdown(header, rows, words=2)
