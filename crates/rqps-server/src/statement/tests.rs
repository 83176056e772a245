//! Which statements are sent to which server.

use super::*;

mod attacks;
mod guest;
mod own;
