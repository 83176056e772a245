//! placeholder for now
