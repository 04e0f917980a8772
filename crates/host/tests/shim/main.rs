//! The shim and its fence as the daemon sees them: real processes, real signals, real files, a real kernel.

#[cfg(test)]
mod bed;
#[cfg(test)]
mod fence;
#[cfg(test)]
mod life;
#[cfg(test)]
mod pane;
