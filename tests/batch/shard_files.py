"""What a job has written, to be compared to the byte."""


def shard_files(out):
    """The bytes of every array of every shard that is complete, by shard and array. Names of files differ each time."""
    files = sorted(out.glob("rows-*/*.npy"))
    return {(file.parent.name, file.name.partition("-")[0]): file.read_bytes() for file in files}


def unfinished(out):
    """The names of the shards that nobody has completed."""
    return sorted(path.name for path in out.glob(".part-*"))
