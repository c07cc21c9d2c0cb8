# Everything runs in a virtual environment of its own (.venv); only Python 3.11+ and make are needed.

# The first of these that is Python 3.11 or newer; `make PYTHON=/path/to/python test` takes another.
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$python" && break; done)
VENV := .venv
BIN := $(VENV)/bin
# A process for each core; one that has nothing left to do takes over what waits for another.
PYTEST := $(BIN)/python -m pytest -n auto --dist worksteal
SITE := build/site

.PHONY: help demo test check bench docs site kernels page page-check vsix vsix-check transcripts sequences format clean
help:
	@echo "make demo   step through the forward and the backward pass of a sample"
	@echo "make test   run the tests; no framework is needed"
	@echo "make check  what CI runs: format, lint, types, layers, all tests, those against frameworks too"
	@echo "make bench  measure speed and write docs/benchmarks.md"
	@echo "make docs   write docs/reference, graphscope-stubs and docs/learn anew, and build the site"
	@echo "make site   build the site alone: README and docs, to be read from disk in $(SITE)"
	@echo "make kernels make the code for CUDA devices anew from its .cu files"
	@echo "make page   make the assets of the HTML page from page/ (needs npm)"
	@echo "make vsix   pack the extension for VS Code (needs npm)"
	@echo "make format put the code in the house's form"

demo: $(VENV)/.made-demo
	@$(BIN)/python samples/demo.py

test: $(VENV)/.made-test
	$(PYTEST) -m "not slow and not torch and not jax and not tensorflow"

check: $(VENV)/.made-check
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy --strict
	$(BIN)/lint-imports
	$(PYTEST) -m slow --durations=20
	$(PYTEST) -m "not slow" --durations=20
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory page-check vsix-check; \
	else echo "no npm: the sources of the page and of the extension are not checked"; fi

bench: $(VENV)/.made-check
	$(BIN)/python -m benchmarks

docs: $(VENV)/.made-docs
	$(BIN)/python docs/reference
	$(BIN)/python docs/reference/stubs.py
	$(BIN)/python -m docs.learn
	@$(MAKE) --no-print-directory site

site: $(VENV)/.made-docs
	rm -rf $(SITE)
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --fresh-env -d build/doctrees docs $(SITE)
	@echo "$(SITE)/index.html"

# What recording runs on CUDA devices is committed as PTX, so that nobody needs a compiler.
kernels:
	$(BIN)/python .ci/kernels.py

# The page's own part is TypeScript; what it is bundled into is committed, so that nobody else needs npm.
page: page/node_modules
	cd page && npm run --silent build

page-check: page/node_modules
	cd page && npm run --silent check

vsix: editors/vscode/node_modules
	cd editors/vscode && npm run --silent package
	@ls editors/vscode/*.vsix

vsix-check: editors/vscode/node_modules
	cd editors/vscode && npm run --silent check

%/node_modules: %/package-lock.json
	cd $* && npm install --no-save --no-audit --no-fund --silent
	@touch $@

transcripts: $(VENV)/.made-check
	$(BIN)/python -m tests.jobs

# What nvim-dap says in the tests of it; needs Neovim, and GRAPHSCOPE_NVIM_DAP, a folder `nvim-dap-0.10.0`.
sequences: $(VENV)/.made-check
	$(BIN)/python -m tests.dap.neovim.record

format: $(VENV)/.made-check
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) dist build

# Each stamp is an extra of pyproject.toml, made again when these files change; "demo" is no extra: the bare package.
EXTRA_demo :=
EXTRA_test := [test]
EXTRA_docs := [docs]
EXTRA_check := [check]
EXTRA_engines := [engines]

$(VENV)/.made-%: pyproject.toml setup.py $(wildcard graphscope/*/*.[ch] graphscope/*/*/*.[ch])
	@test -n "$(PYTHON)" || { echo "graphscope needs Python 3.11 or newer on PATH (or: make PYTHON=/path/to/python)." >&2; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing graphscope$(EXTRA_$*) into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".$(EXTRA_$*)"
	@touch $@
