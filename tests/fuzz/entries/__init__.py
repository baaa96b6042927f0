"""The entries of the campaign by name: each takes a `Draw`, makes an input, calls the package and checks the answer.

An entry returns whether the input got past validation. It raises `Wrong` for a wrong answer. Any other exception is a
crash: errors that the documentation does not name count as such.
"""

from tests.fuzz.entries.certificates import adaptive_certificates, certificates
from tests.fuzz.entries.command_line import command_line
from tests.fuzz.entries.conversion import conversion
from tests.fuzz.entries.costs import costs
from tests.fuzz.entries.durable import durable
from tests.fuzz.entries.dynamic_pagerank import dynamic_pagerank
from tests.fuzz.entries.edge_files import edge_files
from tests.fuzz.entries.hostile_nodes import hostile_nodes
from tests.fuzz.entries.journals import journals
from tests.fuzz.entries.kernels import kernels
from tests.fuzz.entries.learners import learners
from tests.fuzz.entries.matrices import matrices
from tests.fuzz.entries.pagerank import pagerank
from tests.fuzz.entries.pickles import pickles
from tests.fuzz.entries.places import forks, moves
from tests.fuzz.entries.prediction_sets import prediction_sets
from tests.fuzz.entries.pushes import push
from tests.fuzz.entries.ranges import ranges
from tests.fuzz.entries.resistances import resistances
from tests.fuzz.entries.saved import saved
from tests.fuzz.entries.tampered import tampered_durable, tampered_graphs, tampered_matrices, tampered_models
from tests.fuzz.interrupts import injections, interrupts

ENTRIES = {
    "conversion": conversion,
    "push": push,
    "pagerank": pagerank,
    "dynamic-pagerank": dynamic_pagerank,
    "resistances": resistances,
    "kernels": kernels,
    "learners": learners,
    "certificates": certificates,
    "adaptive-certificates": adaptive_certificates,
    "prediction-sets": prediction_sets,
    "edge-files": edge_files,
    "command-line": command_line,
    "pickles": pickles,
    "saved": saved,
    "matrices": matrices,
    "journals": journals,
    "durable": durable,
    "forks": forks,
    "moves": moves,
    "hostile-nodes": hostile_nodes,
    "tampered-graphs": tampered_graphs,
    "tampered-models": tampered_models,
    "tampered-matrices": tampered_matrices,
    "tampered-durable": tampered_durable,
    "ranges": ranges,
    "costs": costs,
    "interrupts": interrupts,
    "injections": injections,
}
