# `make demo` shows what rqps does, `make build` builds it, `make test` tests it.
.PHONY: build dist demo demo-mysql test test-all lint setup

CARGO ?= cargo
# Which part of `make test-all` this machine takes: 1/3 is the first of three.
PART ?= 1/1

setup:
	@scripts/setup

build: setup
	$(CARGO) build --release --locked
	@scripts/split-debug target/release/rqps

# The binary of a release: all optimised, with charts as PNG and Parquet.
dist: setup
	$(CARGO) build --profile dist --locked --features png,parquet
	@scripts/split-debug target/dist/rqps

demo: build
	target/release/rqps run examples/demo.toml

demo-mysql: build
	target/release/rqps run examples/demo-mysql.toml

lint: setup
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --quiet --locked -- -D warnings

# Many tests wait for servers: twice as many run at a time as there are CPUs.
THREADS ?= $(shell echo $$((2 * $$(getconf _NPROCESSORS_ONLN))))

test: setup
	@scripts/setup --for-tests
	RUST_TEST_THREADS=$(THREADS) $(CARGO) test --workspace --quiet --locked

# What `make test` leaves out, too: all versions, faults, simulations, browser tests. Takes an hour; several machines may
# share it by PART.
test-all: setup
	@scripts/setup --for-all-tests
	NEXTEST_TEST_THREADS=$(THREADS) $(CARGO) nextest run --workspace --locked --features rqps/png,rqps/parquet \
		--run-ignored all --partition hash:$(PART)
