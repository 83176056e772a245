//! A run under way, followed: its page, and the stream of server-sent events that keeps it current.
//!
//! All browsers that follow one run share one watcher, which looks once a second and only while
//! somebody follows: the host may be the one that measures.

mod hub;
mod left;
#[cfg(test)]
mod tests;
mod view;
mod watcher;

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::Response;
use hyper::body::{Bytes, Frame};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use maud::html;
use rqps_store::Error;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until, timeout};

use crate::desk::{Desk, MOST_STREAMS};
use crate::page::shell;
use crate::reply::{Body, Reply, guarded};

pub(crate) use hub::Hub;
use view::Parts;
pub(crate) use view::outcome_of;
use watcher::Watcher;

/// How long a stream lasts; pages then open another by themselves.
const LASTS: Duration = Duration::from_secs(3600);

/// How often a stream says something when nothing changes, so that an end of either side is noticed.
const SIGN_OF_LIFE: Duration = Duration::from_secs(15);

/// How long a browser may take to read what was sent.
const READ_WITHIN: Duration = Duration::from_secs(30);

/// The page that follows a run. Without script it loads itself again every five seconds.
pub(crate) fn page(desk: &Desk, id: &str) -> Result<Reply, Error> {
    drop(desk.store_of(id)?);
    let mut watcher = Watcher::new(desk.options.results.clone(), id.to_owned());
    let seen = watcher.look()?;
    let parts = Parts::of(&seen);
    let title = format!("Live: {}", seen.outline.brief.name);
    let again = (!parts.is_over).then_some(5);
    let content = html! {
        div #live data-events=[(!parts.is_over).then(|| format!("/runs/{id}/events"))] {
            p.sr #said role="status" { (parts.said) }
            section #state { (parts.state) }
            section aria-labelledby="now-title" {
                h2 #now-title { "Now" }
                div.scroll #now tabindex="0" role="region" aria-label="Speed of each system" {
                    (parts.now)
                }
                div #narrowing { (parts.narrowing) }
            }
            section aria-labelledby="steps-title" {
                h2 #steps-title { "Steps" }
                div.scroll #steps tabindex="0" role="region" aria-label="Steps" { (parts.steps) }
            }
        }
    };
    let about = shell::About { title: &title, script: Some("live.js"), again };
    Ok(Reply::page(shell::page(desk, about, &content)))
}

/// Follows a run.
pub(crate) async fn stream(
    desk: &Arc<Desk>,
    id: &str,
    stopped: watch::Receiver<bool>,
) -> Result<Response<Body>, Reply> {
    let Some(slot) = Slot::take(desk) else {
        return Err(Reply::busy("Too many browsers follow runs here; close a page."));
    };
    let (owned, of) = (Arc::clone(desk), id.to_owned());
    let found = tokio::task::spawn_blocking(move || owned.store_of(&of).map(|_| ())).await;
    if !matches!(found, Ok(Ok(()))) {
        return Err(Reply::unknown());
    }
    let seen = desk.hub.follow(&desk.options.results, id);
    let (send, receive) = mpsc::channel(2);
    tokio::spawn(tell(seen, send, stopped, slot));
    let mut response = Response::new(Events(receive).boxed_unsync());
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(guarded(response))
}

/// Sends what changes until the run or the server ends, the browser goes, or it is time for another stream.
async fn tell(
    mut seen: watch::Receiver<Arc<Parts>>,
    send: mpsc::Sender<Bytes>,
    mut stopped: watch::Receiver<bool>,
    _slot: Slot,
) {
    let ends = Instant::now() + LASTS;
    let mut before = Arc::new(Parts::default());
    let mut text = String::new();
    loop {
        let parts = Arc::clone(&seen.borrow_and_update());
        if parts.is_any() {
            text.push_str(&parts.event_since(&before));
            before = Arc::clone(&parts);
        }
        if text.is_empty() {
            ": nothing new\n\n".clone_into(&mut text);
        }
        let sent = timeout(READ_WITHIN, send.send(std::mem::take(&mut text).into())).await;
        if !matches!(sent, Ok(Ok(()))) || parts.is_over {
            return;
        }
        let sign_of_life = Instant::now() + SIGN_OF_LIFE;
        tokio::select! {
            changed = seen.changed() => if changed.is_err() { return },
            () = sleep_until(sign_of_life.min(ends)) => if Instant::now() >= ends { return },
            _ = stopped.wait_for(|stopped| *stopped) => return,
            () = send.closed() => return,
        }
    }
}

/// One of the streams that may be under way.
struct Slot(Arc<Desk>);

impl Slot {
    fn take(desk: &Arc<Desk>) -> Option<Self> {
        let before = desk.streams.fetch_add(1, Ordering::Relaxed);
        // Counted back when this is dropped, also right here.
        let slot = Self(Arc::clone(desk));
        (before < MOST_STREAMS).then_some(slot)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.streams.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A body that goes on until its sender is gone.
struct Events(mpsc::Receiver<Bytes>);

impl hyper::body::Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|text| text.map(|text| Ok(Frame::data(text))))
    }
}
