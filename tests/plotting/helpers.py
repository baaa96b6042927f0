import nx_fastonl as fo


def legend_texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def sequence(wrong):
    """A LabelSequence with mistakes where this is true."""
    n = len(wrong)
    return fo.LabelSequence(tuple("b" if bad else "a" for bad in wrong), tuple(range(n)), ("a",) * n)
