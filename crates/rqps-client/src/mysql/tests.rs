//! Connection logic against servers of this process.
