//! What is typed after `rqps serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use super::value;

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Address and port; any address but loopback needs a token
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7477", value_parser = value::address)]
    pub(crate) listen: SocketAddr,

    /// File with the token that browsers must send as http://HOST:PORT/#token=TOKEN; only its owner may read it
    /// [default: RQPS_TOKEN in the environment]
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,

    /// A host name that browsers may use for this host, besides its addresses and localhost; repeatable
    #[arg(long = "name", value_name = "HOST")]
    pub(crate) names: Vec<String>,
}
