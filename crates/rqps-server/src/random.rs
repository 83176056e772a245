//! Random texts of the kernel.

use std::fs::File;
use std::io::Read as _;

use crate::Error;
use crate::places::hex;

/// 96 random bits as hex: passwords, which let nobody else on the host into a server, and marks of a process.
pub(crate) fn random_hex() -> Result<String, Error> {
    let mut bytes = [0_u8; 12];
    File::open("/dev/urandom")
        .and_then(|mut file| file.read_exact(&mut bytes))
        .map_err(|e| Error::io("read /dev/urandom", e))?;
    Ok(hex(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_long_and_differ() {
        let (one, other) = (random_hex().unwrap(), random_hex().unwrap());
        assert!(one.len() == 24 && one.bytes().all(|b| b.is_ascii_hexdigit()), "{one}");
        assert_ne!(one, other);
    }
}
