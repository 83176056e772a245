//! RSA encryption of a password with a server's public key: RSAES-OAEP with SHA-1 and MGF1
//! (RFC 8017, section 7.1.1), the only RSA there is in the protocol.
//!
//! Encryption alone, with a public key: there is no secret whose timing could leak but the password,
//! which is raised to a public power once per connection. Key text is a server's, so nothing here
//! may panic on it.

use num_bigint::BigUint;
use rustls::pki_types::SubjectPublicKeyInfoDer;
use rustls::pki_types::pem::PemObject;
use sha1::{Digest, Sha1};

use super::Violation;

/// Bytes of randomness that one encryption needs: one SHA-1 hash.
pub const SEED: usize = 20;

/// Key sizes that are believed, in bytes. Servers make keys of 2048 bits; the upper end keeps a
/// hostile key from costing minutes.
const MODULUS_BYTES: std::ops::RangeInclusive<usize> = 64..=2048;

/// Encrypts `secret` with a public key in PEM form (`BEGIN PUBLIC KEY`).
///
/// # Errors
/// When the key cannot be read, or is too short for the secret.
pub fn encrypt(pem: &[u8], secret: &[u8], seed: &[u8; SEED]) -> Result<Vec<u8>, Violation> {
    PublicKey::from_pem(pem)?.encrypt(secret, seed)
}

/// A server's public key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey {
    modulus: BigUint,
    exponent: BigUint,
    n_bytes: usize,
}

impl PublicKey {
    /// Reads a key in PEM form (`BEGIN PUBLIC KEY`).
    ///
    /// # Errors
    /// When it is none, or none of RSA.
    pub fn from_pem(pem: &[u8]) -> Result<Self, Violation> {
        let key = SubjectPublicKeyInfoDer::from_pem_slice(pem)
            .map_err(|error| Violation::new(format!("the server's public key: {error}")))?;
        Self::parse(&key)
            .ok_or_else(|| Violation::new("the server's public key is not an RSA key in DER form"))
    }

    /// Encrypts `secret`.
    ///
    /// # Errors
    /// When the key is too short for the secret.
    pub fn encrypt(&self, secret: &[u8], seed: &[u8; SEED]) -> Result<Vec<u8>, Violation> {
        let padded = pad(secret, seed, self.n_bytes).ok_or_else(|| {
            Violation::new(format!(
                "a password of {} bytes is too long for the server's key of {} bits",
                secret.len().saturating_sub(1),
                self.n_bytes * 8
            ))
        })?;
        let padded = BigUint::from_bytes_be(&padded);
        let cipher = padded.modpow(&self.exponent, &self.modulus).to_bytes_be();
        let mut out = vec![0; self.n_bytes.saturating_sub(cipher.len())];
        out.extend_from_slice(&cipher);
        Ok(out)
    }

    /// Reads a SubjectPublicKeyInfo (RFC 5280) around an RSAPublicKey (RFC 8017, A.1.1).
    fn parse(info: &[u8]) -> Option<Self> {
        let (mut info, _) = der(0x30, info)?;
        let (_algorithm, rest) = der(0x30, info)?;
        info = rest;
        let (bits, _) = der(0x03, info)?;
        let (numbers, _) = der(0x30, bits.strip_prefix(&[0])?)?;
        let (modulus, rest) = der(0x02, numbers)?;
        let (exponent, _) = der(0x02, rest)?;
        let modulus = BigUint::from_bytes_be(modulus);
        let exponent = BigUint::from_bytes_be(exponent);
        let n_bytes = usize::try_from(modulus.bits().div_ceil(8)).ok()?;
        // An exponent above 32 bits is nobody's, and would make the power slow.
        let sane = MODULUS_BYTES.contains(&n_bytes) && exponent.bits() <= 32 && modulus.bit(0);
        sane.then_some(Self { modulus, exponent, n_bytes })
    }
}

/// Takes one value with this tag off the front: its content, and what follows.
fn der(tag: u8, bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (&got, rest) = bytes.split_first()?;
    let (&short, rest) = rest.split_first()?;
    let (length, rest) = match short {
        0..=0x7F => (usize::from(short), rest),
        0x81..=0x83 => {
            let (digits, rest) = rest.split_at_checked(usize::from(short & 0x0F))?;
            let length = digits.iter().fold(0, |sum, &digit| sum << 8 | usize::from(digit));
            (length, rest)
        }
        _ => return None,
    };
    if got == tag { rest.split_at_checked(length) } else { None }
}

/// The padded message of `n_bytes`; `None` when the secret is too long for it.
fn pad(secret: &[u8], seed: &[u8; SEED], n_bytes: usize) -> Option<Vec<u8>> {
    let n_zeros = n_bytes.checked_sub(secret.len() + 2 * SEED + 2)?;
    let mut block = Sha1::digest(b"").to_vec();
    block.resize(SEED + n_zeros, 0);
    block.push(1);
    block.extend_from_slice(secret);
    mask(&mut block, seed);
    let mut head = *seed;
    mask(&mut head, &block);
    Some([&[0], &head[..], &block].concat())
}

/// XORs MGF1 of `seed` onto `target` (RFC 8017, B.2.1).
fn mask(target: &mut [u8], seed: &[u8]) {
    for (chunk, counter) in target.chunks_mut(SEED).zip(0_u32..) {
        let hash = Sha1::new().chain_update(seed).chain_update(counter.to_be_bytes()).finalize();
        chunk.iter_mut().zip(hash).for_each(|(byte, mask)| *byte ^= mask);
    }
}

/// A key made for these tests alone.
#[cfg(test)]
pub(crate) const TEST_KEY: &str = "\
-----BEGIN PUBLIC KEY-----
MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDIzP7kQ5jayMzWMEeFLrUckiVg
T+WVNiTclEPHVXlQDOLeJMxH4AQIHLktVkUPUdPI7v2IXG8mue/faDSusFkhvMVt
yhRxGU8c1fuAoOOOrza09oJ53ILFLx35rxR4SgLT7xWmk8O/IrV60s3THpmak1gH
sdX37eBfqDrl1wmSQwIDAQAB
-----END PUBLIC KEY-----
";

#[cfg(test)]
mod tests;
