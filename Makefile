# Verbs of the course. `make help` lists them.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
RUN    := $(BIN)/python -m autograder
# `make grade SUBMITTED=folder`; LAYER=layernorm or STUDENT=ada narrow it down.
SUBMITTED ?= _build/submitted
LAYER     ?=
STUDENT   ?=
# `make collect DOWNLOADS=folder-or-zip`
DOWNLOADS ?= downloads
# `make soak SOAK=100000`
SOAK      ?= 10000
PORT      ?= 8000

.DEFAULT_GOAL := help
.PHONY: help demo test check audit release collect grade feedback export soak book serve zip wasm \
  experiments train benchmarks bench-grading clean

help:  ## list the verbs
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | awk -F'\t' '{printf "  make %-13s %s\n", $$1, $$2}'

demo: $(VENV)/.installed  ## build the book, release, grade a sample class and nbgrader's example course
	$(MAKE) book
	$(RUN) demo

test: $(VENV)/.installed-dev  ## everything that must pass: style, types, fresh exercises, all tests
	$(MAKE) check

check: $(VENV)/.installed-dev  ## ruff, mypy, release --check and pytest, in that order
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(RUN) release --check
	$(BIN)/python -m pytest -n 2 --dist loadfile

audit: $(VENV)/.installed  ## prove the hidden tests: known mistakes are caught and named, right answers pass
	$(RUN) audit

release: $(VENV)/.installed  ## make exercises/ from solutions/
	$(RUN) release $(if $(LAYER),--layer $(LAYER))

collect: $(VENV)/.installed  ## sort DOWNLOADS=folder-or-zip into _build/submitted
	$(RUN) collect $(DOWNLOADS) $(if $(LAYER),--layer $(LAYER))

grade: $(VENV)/.installed  ## grade SUBMITTED=folder/student/layer/layer.ipynb, each in a sandbox
	$(RUN) grade $(SUBMITTED) $(if $(LAYER),--layer $(LAYER)) $(if $(STUDENT),--student $(STUDENT))

feedback: $(VENV)/.installed  ## write feedback anew, with the marks given by hand
	$(RUN) feedback $(if $(LAYER),--layer $(LAYER)) $(if $(STUDENT),--student $(STUDENT))

export: $(VENV)/.installed  ## write _build/grades.csv, and who made which mistake
	$(RUN) export
	$(RUN) export --by-mistake

soak: $(VENV)/.installed-dev  ## grade SOAK=10000 notebooks, with kills in between (an hour)
	$(BIN)/python -m tests.course.soak $(SOAK)

book: $(VENV)/.installed  ## build the book into _build/html
	$(BIN)/jupyter-book build book -W --keep-going

serve:  ## show the built book on PORT=8000
	@echo "http://localhost:$(PORT)"
	@$(BIN)/python -m http.server $(PORT) --directory _build/html

zip: book  ## pack the book into _build/layers-from-scratch.zip, which opens without a server
	$(BIN)/python book/_ext/offline_zip.py _build/html _build/layers-from-scratch.zip

wasm: $(VENV)/.installed  ## compile the widgets' loops to WebAssembly (needs wasm-ld, package lld)
	$(BIN)/python -m layerlab.wasm.build

experiments: $(VENV)/.installed  ## run the long experiments that the pages draw from (NAME=dropout_grid for one)
	$(BIN)/python -m layerlab.experiments $(NAME)

# One thread: the matrices are too small for more.
train: $(VENV)/.installed  ## train the tiny GPT of the last chapter (a minute or two; a stopped run is resumed)
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m layerlab.tinygpt train

benchmarks: $(VENV)/.installed  ## time the kernels against NumPy, PyTorch and the memory's bandwidth
	$(BIN)/python -m benchmarks.kernels

bench-grading: $(VENV)/.installed  ## time the grading of a class against nbgrader, then of large classes
	$(BIN)/python -m benchmarks.grading

# The gradebook, the ledger (_build/grading), the submissions and the course secret in _build are
# nobody's to throw away.
clean:  ## delete what can be made again; grades and submissions stay
	rm -rf _build/html _build/layers-from-scratch.zip _build/.doctrees _build/jupyter_execute _build/.jupyter_cache _build/source \
	  _build/example_course _build/grading/submitted .pytest_cache .hypothesis .mypy_cache .ruff_cache

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: requirements.txt pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt -e .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt -e ".[dev]"
	@touch $@
