"""Modules whose import is deferred."""

from __future__ import annotations

import subprocess
import sys


def run(*lines: str) -> list[str]:
    """What some lines print in a new process, after imports have been deferred."""
    program = ["import sys", "from manylabel.lazy_modules import defer", "defer()", *lines]
    found = subprocess.run(
        [sys.executable, "-c", "\n".join(program)], capture_output=True, text=True, check=True
    )
    return found.stdout.split()


def test_they_are_not_there_until_they_are_used():
    assert run(
        "import scipy.stats, sklearn.base",
        "print('scipy.stats._stats_py' in sys.modules)",
        "print(scipy.stats.mode([1, 2, 2]).mode)",
        "print('scipy.stats._stats_py' in sys.modules)",
    ) == ["False", "2", "True"]


def test_every_form_of_import_works():
    assert run(
        "import numpy as np",
        "import numpy.testing as testing, scipy.stats.distributions as distributions",
        "from scipy.stats import rankdata",
        "from scipy import stats",
        "print(testing.assert_equal(1, 1), np.testing.__name__, distributions.norm.name)",
        "print(rankdata([3])[0], stats.norm is distributions.norm, np.f2py.__name__)",
    ) == ["None", "numpy.testing", "norm", "1.0", "True", "numpy.f2py"]


def test_what_is_not_installed_does_not_seem_to_be_there():
    assert run(
        "defer(['no_such_module'])",
        "try:",
        "    import no_such_module",
        "except ModuleNotFoundError as error:",
        "    print(error.name)",
    ) == ["no_such_module"]


def test_only_what_is_imported_now_is_deferred():
    assert run(
        "from manylabel.lazy_modules import deferred",
        "sys.meta_path.pop(0)",
        "with deferred(['scipy.stats', 'wave']):",
        "    import scipy, wave as early",
        "    from scipy import stats",
        "import wave",
        "print(type(early).__name__, type(wave).__name__, early.open is wave.open)",
        "print(scipy.stats is stats, scipy.stats.mode is stats.mode)",
    ) == ["_Deferred", "module", "True", "False", "True"]


def test_names_that_are_only_looked_up_can_be_used_in_every_way():
    assert run(
        "import numpy as np",
        "from scipy.sparse.linalg import LinearOperator, cg",
        "from scipy.sparse.csgraph import laplacian",
        "print('scipy.sparse.linalg._isolve' in sys.modules)",
        "class Twice(LinearOperator):",
        "    def __init__(self):",
        "        super().__init__(np.dtype(float), (2, 2))",
        "    def _matvec(self, x):",
        "        return 2 * x",
        "print(Twice().matvec(np.ones(2))[0], isinstance(Twice(), LinearOperator))",
        "print(issubclass(Twice, LinearOperator), LinearOperator.ndim)",
        "print(cg(np.eye(2), np.ones(2))[1], laplacian(np.eye(3)).shape[0])",
    ) == ["False", "2.0", "True", "True", "2", "0", "3"]


def test_scikit_learn_works_with_what_it_looked_up():
    assert run(
        "import manylabel.estimators",
        "print('joblib' in sys.modules, 'scipy.linalg._basic' in sys.modules)",
        "from sklearn.ensemble import RandomForestClassifier",
        "forest = RandomForestClassifier(2, n_jobs=2, random_state=0)",
        "forest.fit([[0], [1]] * 9, [0, 1] * 9)",
        "print(forest.predict([[1]])[0])",
        "import numpy as np",
        "from sklearn.utils import fixes, parallel",
        "print(fixes._sparse_linalg_cg(np.eye(1), np.ones(1))[0][0])",
        "import joblib",
        "print(joblib.cpu_count() > 0, np.ma.array([1]).sum(), np.polynomial.Polynomial([1])(0))",
    ) == ["False", "False", "1", "1.0", "True", "1", "1.0"]


def test_only_the_stemmer_of_one_language_is_imported():
    assert run(
        "sys.modules['Stemmer'] = None",  # the compiled stemmers
        "from manylabel.text import CountVectorizer",
        "print(*CountVectorizer(stemming='english').fit(['ships']).vocabulary_)",
        "modules = [name for name in sys.modules if name.startswith('snowballstemmer.')]",
        "print(*(name for name in modules if name.endswith('_stemmer')))",
        "import snowballstemmer",
        "print(*snowballstemmer.stemmer('finnish').stemWords(['laivat']))",
    ) == ["ship", "snowballstemmer.english_stemmer", "laiva"]


def test_nothing_inherits_from_a_class_that_was_never_imported():
    assert run(
        "from pydantic import v1",
        "print(issubclass(int, v1.BaseModel), isinstance(1, v1.BaseModel))",
        "print('pydantic.v1.main' in sys.modules)",
        "from pydantic.v1.main import BaseModel",  # without the package itself
        "print(issubclass(BaseModel, v1.BaseModel), issubclass(int, v1.BaseModel))",
    ) == ["False", "False", "False", "True", "False"]


def test_uvicorn_works_with_what_it_looked_up():
    assert run(
        "import uvicorn, uvicorn.server",
        "print('click.core' in sys.modules)",
        "print(uvicorn.Server.__name__, issubclass(uvicorn.server.Server, uvicorn.Server))",
        "print(uvicorn.run.__name__, 'click.core' in sys.modules)",
    ) == ["False", "Server", "True", "run", "True"]
