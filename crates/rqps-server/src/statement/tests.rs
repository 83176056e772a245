//! Which statements are sent to which server.

use super::*;

mod guest;
mod own;
