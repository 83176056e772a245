//! A key and a self-signed certificate for a server with transport `tls`: the same kind for every
//! version, so that the cost of encryption does not depend on whose certificate it is.

use std::path::Path;

use crate::Error;
use crate::identity::Identity;
use crate::instance::{make_private, write_private};

/// File names below the instance's `tls/`.
pub(crate) const CERTIFICATE: &str = "server.crt";
/// The private key's file name.
pub(crate) const KEY: &str = "server.key";

/// Writes an ECDSA P-256 key and certificate for `localhost` and 127.0.0.1.
pub(crate) fn write(dir: &Path, identity: &Identity) -> Result<(), Error> {
    let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
    let made = rcgen::generate_simple_self_signed(names).map_err(|e| Error::Data {
        what: "make a certificate".to_owned(),
        detail: e.to_string(),
    })?;
    make_private(dir, identity)?;
    write_private(&dir.join(CERTIFICATE), &made.cert.pem(), identity)?;
    write_private(&dir.join(KEY), &made.signing_key.serialize_pem(), identity)
}
