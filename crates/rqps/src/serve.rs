//! `rqps serve`: what was typed as the server's options, and what it says on the terminal.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use rqps_sample::given_file;
use rqps_serve::{Options, Token};

use crate::args::ServeArgs;
use crate::{Surroundings, complain};

/// Most bytes of a file with a token.
const MOST_OF_TOKEN: u64 = 64 << 10;

/// Carries out `rqps serve ...`; ends at the first signal.
pub(crate) fn run(args: &ServeArgs, token: Option<&str>, around: &Surroundings) -> Result<()> {
    let token = match (&args.token_file, token) {
        (Some(path), _) => Some(Token::new(&read_token(path)?)?),
        (None, Some(text)) => Some(Token::new(text).context("read RQPS_TOKEN")?),
        (None, None) => None,
    };
    let fragment = if token.is_some() { "#token=TOKEN" } else { "" };
    let options = Options {
        results: around.results.clone(),
        listen: args.listen,
        names: args.names.clone(),
        token,
        rqps_version: env!("CARGO_PKG_VERSION").to_owned(),
        stop: Arc::clone(&around.interrupt),
    };
    rqps_serve::serve(options, &mut |at| {
        complain(&format!(
            "http://{at}/{fragment} shows the runs of {}; Ctrl-C ends it",
            around.results.display()
        ));
    })?;
    Ok(())
}

/// A token's file, which only its owner may read.
fn read_token(path: &Path) -> Result<String> {
    let shown = path.display();
    let metadata = fs::metadata(path).with_context(|| format!("read the token file {shown}"))?;
    if metadata.permissions().mode() & 0o077 != 0 {
        bail!(
            "others may read the token file {shown}; run `chmod 600 {shown}` and choose a new token"
        );
    }
    given_file::read_text(path, MOST_OF_TOKEN)
        .with_context(|| format!("read the token file {shown}"))
}
