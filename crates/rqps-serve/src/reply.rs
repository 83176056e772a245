//! Answers: pages, data and their headers.

use std::convert::Infallible;

use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName,
    HeaderValue, REFERRER_POLICY, RETRY_AFTER, VARY, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Response, StatusCode};
use maud::{DOCTYPE, Markup, html};

/// Any answer's body.
pub(crate) type Body = UnsyncBoxBody<Bytes, Infallible>;

/// What pages of our own may do: nothing but load the script and styles of this server, ask it and follow a run.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
    form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// What everything that is no page may do.
const NO_PAGE: &str = "default-src 'none'; frame-ancestors 'none'; sandbox";

/// An answer that is there as a whole.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    content_type: &'static str,
    policy: String,
    headers: Vec<(HeaderName, String)>,
    body: Bytes,
}

impl Reply {
    fn new(status: StatusCode, content_type: &'static str, body: impl Into<Bytes>) -> Self {
        let (policy, headers) = (NO_PAGE.to_owned(), Vec::new());
        Self { status, content_type, policy, headers, body: body.into() }
    }

    /// A page of our own.
    pub(crate) fn page(markup: Markup) -> Self {
        let reply = Self::new(StatusCode::OK, "text/html; charset=utf-8", markup.into_string());
        Self { policy: POLICY.to_owned(), ..reply }
    }

    /// No such page.
    pub(crate) fn unknown() -> Self {
        Self::problem(StatusCode::NOT_FOUND, "There is no such page.")
    }

    /// A page that says what went wrong.
    pub(crate) fn problem(status: StatusCode, sentence: &str) -> Self {
        let title = match status.is_success() {
            true => "Nothing to show".to_owned(),
            false => {
                format!("{} {}", status.as_u16(), status.canonical_reason().unwrap_or("Error"))
            }
        };
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (title) " - rqps" }
                    link rel="stylesheet" href="/static/report.css";
                    link rel="stylesheet" href="/static/serve.css";
                }
                body {
                    main.problem {
                        h1 { (title) }
                        p.verdict { (rqps_text::words::one_line(sentence)) }
                        p { a href="/" { "All runs" } }
                    }
                }
            }
        };
        Self { status, ..Self::page(page) }
    }

    /// A report or another page that is complete in itself: its own policy, which it states in its head
    /// before any text from outside, and that nobody may frame it.
    pub(crate) fn whole_page(page: String) -> Self {
        let begin = "<meta http-equiv=\"Content-Security-Policy\" content=\"";
        let own = page.find(begin).and_then(|at| page[at + begin.len()..].split('"').next());
        let own = own.map(|policy| policy.replace("&#39;", "'")).filter(|policy| {
            policy.starts_with("default-src 'none'")
                && policy.bytes().all(|b| (32..127).contains(&b))
        });
        let own = own.unwrap_or_else(|| "default-src 'none'".to_owned());
        let policy = format!("{own}; frame-ancestors 'none'");
        let reply = Self::new(StatusCode::OK, "text/html; charset=utf-8", page);
        Self { policy, ..reply }
    }

    /// Data to be shown, or to be kept as a file where it has a name.
    pub(crate) fn data(content_type: &'static str, file: Option<&str>, body: String) -> Self {
        let reply = Self::new(StatusCode::OK, content_type, body);
        match file {
            Some(name) => {
                reply.with(CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\""))
            }
            None => reply,
        }
    }

    /// A file of this program.
    pub(crate) fn file(content_type: &'static str, body: &'static str) -> Self {
        let body = Bytes::from_static(body.as_bytes());
        Self::new(StatusCode::OK, content_type, body)
    }

    /// A page for who has not shown the token. The page that it fetches takes its place and keeps its policy. So
    /// the policy names the styles and scripts of all reports. Each report's own then narrows it.
    pub(crate) fn locked(markup: Markup) -> Self {
        let (styles, scripts) = (rqps_html::page::styles(), rqps_html::page::scripts());
        let policy = POLICY.replace("style-src 'self'", &format!("style-src 'self' {styles}"));
        let policy = policy.replace("script-src 'self'", &format!("script-src 'self' {scripts}"));
        let reply = Self { status: StatusCode::UNAUTHORIZED, policy, ..Self::page(markup) };
        reply.with(WWW_AUTHENTICATE, "Bearer".to_owned())
    }

    /// Too many of something; the browser is to come again.
    pub(crate) fn busy(sentence: &str) -> Self {
        Self::problem(StatusCode::SERVICE_UNAVAILABLE, sentence).with(RETRY_AFTER, "5".to_owned())
    }

    fn with(mut self, name: HeaderName, value: String) -> Self {
        self.headers.push((name, value));
        self
    }

    /// The answer as it is sent.
    pub(crate) fn into_response(self) -> Response<Body> {
        let Self { status, content_type, policy, headers, body } = self;
        let mut response = Response::new(Full::new(body).boxed_unsync());
        *response.status_mut() = status;
        let mut set = |name: HeaderName, value: &str| {
            // None is made of text from outside but names of files, which are ids of runs.
            if let Ok(value) = HeaderValue::from_str(value) {
                response.headers_mut().append(name, value);
            }
        };
        set(CONTENT_TYPE, content_type);
        set(CONTENT_SECURITY_POLICY, &policy);
        // Asked again each time: runs go on. With the token an address has another answer.
        set(CACHE_CONTROL, "private, no-cache");
        set(VARY, "authorization");
        for (name, value) in &headers {
            set(name.clone(), value);
        }
        guarded(response)
    }
}

/// A response with the headers that all have.
pub(crate) fn guarded(mut response: Response<Body>) -> Response<Body> {
    let headers = response.headers_mut();
    let mut set = |name: HeaderName, value| headers.insert(name, HeaderValue::from_static(value));
    set(X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(REFERRER_POLICY, "no-referrer");
    set(HeaderName::from_static("cross-origin-opener-policy"), "same-origin");
    set(HeaderName::from_static("cross-origin-resource-policy"), "same-origin");
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_page_keeps_the_policy_that_it_states() {
        let policy = |page: &str| {
            let response = Reply::whole_page(page.to_owned()).into_response();
            response.headers()[CONTENT_SECURITY_POLICY].to_str().unwrap().to_owned()
        };
        let page = "<head><meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
                    script-src 'sha256-x'\"><title>";
        let told = "default-src 'none'; script-src 'sha256-x'; frame-ancestors 'none'";
        assert_eq!(policy(page), told);
        for none in ["", "<meta http-equiv=\"Content-Security-Policy\" content=\"script-src *\">"] {
            assert_eq!(policy(none), "default-src 'none'; frame-ancestors 'none'");
        }
    }

    #[test]
    fn every_answer_is_guarded() {
        for reply in [Reply::page(html! {}), Reply::locked(html! {}), Reply::file("text/css", "")] {
            let response = reply.into_response();
            for name in ["x-content-type-options", "referrer-policy", "content-security-policy"] {
                assert!(response.headers().contains_key(name), "{name}");
            }
        }
    }
}
