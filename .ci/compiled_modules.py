"""Whether an installed graphscope brings all of its compiled modules, which are optional where it is built."""

import ast
import sysconfig
from pathlib import Path

import graphscope


def missing() -> list[str]:
    """The compiled modules that `setup.py` lists and the installed package lacks, as paths without an ending."""
    setup = ast.parse(Path("setup.py").read_text())
    tables = (each for each in setup.body if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == "MODULES")
    modules = [ast.literal_eval(key) for table in tables for key in table.value.keys]
    if not modules:
        raise SystemExit("setup.py has no table MODULES")
    folder = Path(graphscope.__file__).parents[1]
    ending = sysconfig.get_config_var("EXT_SUFFIX")
    return [module for module in modules if not (folder / f"{module}{ending}").exists()]


if __name__ == "__main__":
    lacking = missing()
    raise SystemExit(f"not compiled: {', '.join(lacking)}" if lacking else 0)
