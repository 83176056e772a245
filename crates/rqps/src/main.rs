//! The rqps command.
fn main() {}
