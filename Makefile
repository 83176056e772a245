# Three commands: `make demo` shows what rqps does, `make test` checks everything, `make build` builds.
.PHONY: build demo demo-postgres test lint setup

CARGO ?= cargo

setup:
	@scripts/setup

build: setup
	$(CARGO) build --release

demo: build
	target/release/rqps run examples/demo.toml

demo-postgres: build
	target/release/rqps run examples/demo-postgres.toml

lint: setup
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --quiet -- -D warnings

test: lint
	@scripts/setup --for-tests
	$(CARGO) test --workspace --quiet
