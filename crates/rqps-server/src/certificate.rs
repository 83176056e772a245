//! A key and a self-signed certificate for a server with transport `tls`: the same kind for every
//! version, so that the cost of encryption does not depend on whose certificate it is.

use crate::Error;
use crate::instance::Instance;

/// File names below the instance's `tls/`.
pub(crate) const CERTIFICATE: &str = "server.crt";
/// The private key's file name.
pub(crate) const KEY: &str = "server.key";

/// Writes an ECDSA P-256 key and certificate for `localhost` and 127.0.0.1.
pub(crate) fn write(instance: &Instance) -> Result<(), Error> {
    let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
    let made = rcgen::generate_simple_self_signed(names).map_err(|e| Error::Data {
        what: "make a certificate".to_owned(),
        detail: e.to_string(),
    })?;
    let dir = instance.setup().dir.join("tls");
    instance.make_private(&dir)?;
    instance.write_private(&dir.join(CERTIFICATE), &made.cert.pem())?;
    instance.write_private(&dir.join(KEY), &made.signing_key.serialize_pem())
}
