//! The GitHub client as its callers see it, against servers on loopback.

#[cfg(test)]
mod client;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod description;
#[cfg(test)]
mod server;
