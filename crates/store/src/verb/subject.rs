//! What lives through facts: any machine's, stored, recorded, taken and found the same way.
//!
//! A row's `body` is the truth, made by [`Machine::apply`] alone, in the form its `version` names; what was asked
//! lies apart, because it may be large and never changes. What a machine is found by is its own projection
//! ([`Stored::project`]), written in the same transaction. Rows are locked before projections are: two that change one
//! subject wait for each other, and for nothing else.

use dandori_domain::id::{Epoch, HostId};
use dandori_domain::machine::{Machine, SubjectRef};
use jiff::Timestamp;

use crate::error::{Noun, Result, StoreError};
use crate::event::{About, log};
use crate::store::Store;
use crate::tx::{Row, Tx, json, params};
use crate::verb::consequence;
use crate::verb::life::{Hold, Life, check};

/// A machine whose subjects the store keeps.
pub trait Stored: Machine {
    /// What is said to be missing when it is not there.
    const NOUN: Noun;

    /// Writes what it is found by, where that has changed. `before` is `None` when it is new.
    #[doc(hidden)]
    fn project(_tx: &mut Projection<'_>, _before: Option<&Self>, _after: &Self) -> Result<()> {
        Ok(())
    }

    /// What a fact means for rows beside it.
    #[doc(hidden)]
    fn follow(_tx: &mut Projection<'_>, _after: &Self, _fact: &Self::Fact, _at: Timestamp) -> Result<()> {
        Ok(())
    }
}

/// The transaction a projection is written in. Only the store's own machines can.
pub struct Projection<'t>(pub(crate) &'t mut dyn Tx);

/// Facts were taken in.
#[derive(Clone, PartialEq, Debug)]
pub struct Recorded<M> {
    pub subject: M,
    /// Other subjects that were changed by what it means for them.
    pub touched: Vec<Touched>,
}

/// A fact that another subject took in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Touched {
    pub subject: SubjectRef,
    pub fact: &'static str,
}

/// Somebody's hold on a subject for a while.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lease {
    pub holder: String,
    pub epoch: Epoch,
    pub until: Timestamp,
}

const SELECT: &str = "SELECT subject.body, subject_spec.spec, subject.version FROM subject
     JOIN subject_spec ON subject_spec.machine = subject.machine AND subject_spec.id = subject.id
     WHERE subject.machine = $1";

pub(crate) fn read<M: Stored>(row: &Row) -> Result<M> {
    read_at(row, 0)
}

/// As [`read`], with the three columns from `first` on.
pub(crate) fn read_at<M: Stored>(row: &Row, first: usize) -> Result<M> {
    let version = row.int(first + 2)?;
    if version != M::VERSION {
        let reason = format!("a {} in form {version}, where {} is known", M::NAME, M::VERSION);
        return Err(StoreError::unreadable(reason));
    }
    let mut body: serde_json::Map<_, _> = row.json(first)?;
    body.insert("spec".into(), row.json(first + 1)?);
    serde_json::from_value(body.into()).map_err(StoreError::unreadable)
}

/// Body and specification apart.
pub(crate) fn parts<M: Stored>(subject: &M) -> Result<(String, String)> {
    let mut value = serde_json::to_value(subject).map_err(StoreError::other)?;
    let spec = value.as_object_mut().and_then(|map| map.remove("spec"));
    Ok((json(&value)?, json(&spec)?))
}

pub(crate) fn about<M: Machine>(subject: &M) -> About {
    let about = subject.about();
    let subject = Some((SubjectRef::of::<M>(subject.id()), subject.status_name()));
    About { repo: about.repo, task: about.task, run: about.run, subject }
}

/// A new subject, with the event that says so.
pub(crate) fn insert<M: Stored>(tx: &mut dyn Tx, subject: &M, at: Timestamp) -> Result<()> {
    let (body, spec) = parts(subject)?;
    let id = subject.id().to_string();
    let host = subject.about().host;
    tx.execute(
        "INSERT INTO subject (machine, id, host, walked, version, body) VALUES ($1, $2, $3, $4, $5, $6)",
        params![M::NAME, id.as_str(), host, subject.is_walked(at), M::VERSION, body],
    )?;
    tx.execute("INSERT INTO subject_spec (machine, id, spec) VALUES ($1, $2, $3)", params![M::NAME, id, spec])?;
    M::project(&mut Projection(tx), None, subject)
}

pub(crate) fn update<M: Stored>(tx: &mut dyn Tx, before: &M, after: &M, at: Timestamp) -> Result<()> {
    let (body, _) = parts(after)?;
    tx.execute(
        "UPDATE subject SET walked = $3, version = $4, body = $5 WHERE machine = $1 AND id = $2",
        params![M::NAME, after.id().to_string(), after.is_walked(at), M::VERSION, body],
    )?;
    M::project(&mut Projection(tx), Some(before), after)
}

/// With its row locked where several can write.
pub(crate) fn load_to_change<M: Stored>(tx: &mut dyn Tx, id: M::Id) -> Result<M> {
    let lock = tx.dialect().lock("subject");
    let row = tx.first(&format!("{SELECT} AND subject.id = $2{lock}"), params![M::NAME, id.to_string()])?;
    read(&row.ok_or_else(|| StoreError::not_found(M::NOUN, id))?)
}

pub(crate) fn load<M: Stored>(tx: &mut dyn Tx, id: M::Id) -> Result<M> {
    let row = tx.first(&format!("{SELECT} AND subject.id = $2"), params![M::NAME, id.to_string()])?;
    read(&row.ok_or_else(|| StoreError::not_found(M::NOUN, id))?)
}

/// Takes facts into a subject that was loaded to be changed.
pub(crate) fn take_in<M: Stored>(tx: &mut dyn Tx, before: &M, facts: &[M::Fact], at: Timestamp) -> Result<Recorded<M>> {
    let mut after = before.clone();
    for fact in facts {
        after.apply(fact, at)?;
        log(tx, at, about(&after), M::fact_name(fact), fact)?;
        M::follow(&mut Projection(tx), &after, fact, at)?;
    }
    update(tx, before, &after, at)?;
    let mut touched = Vec::new();
    for meant in after.consequences(facts, at) {
        touched.extend(consequence::carry_out(tx, meant, at)?);
    }
    Ok(Recorded { subject: after, touched })
}

fn record<M: Stored>(tx: &mut dyn Tx, life: Life, id: M::Id, facts: &[M::Fact], at: Timestamp) -> Result<Recorded<M>> {
    check(tx, life, Hold::Shared)?;
    let subject: M = load_to_change(tx, id)?;
    let host = subject.about().host;
    if host != life.host {
        return Err(StoreError::OtherHost { host });
    }
    take_in(tx, &subject, facts, at)
}

/// Who has it, and until when.
struct Held {
    epoch: i64,
    holder: Option<String>,
    until: Option<Timestamp>,
}

fn held<M: Stored>(tx: &mut dyn Tx, id: M::Id) -> Result<Held> {
    let lock = tx.dialect().lock("subject");
    let sql =
        format!("SELECT lease_epoch, lease_holder, lease_until FROM subject WHERE machine = $1 AND id = $2{lock}");
    let row = tx.first(&sql, params![M::NAME, id.to_string()])?;
    let row = row.ok_or_else(|| StoreError::not_found(M::NOUN, id))?;
    let holder = row.has(1).then(|| row.text(1).map(str::to_owned)).transpose()?;
    Ok(Held { epoch: row.int(0)?, holder, until: row.parsed_if_there(2)? })
}

/// Gives a subject to `holder` until a time, when nobody has it. Each time it is given, its epoch is one more.
fn take_lease<M: Stored>(
    tx: &mut dyn Tx,
    id: M::Id,
    holder: &str,
    now: Timestamp,
    until: Timestamp,
) -> Result<Option<Lease>> {
    let held = held::<M>(tx, id)?;
    if held.holder.is_some() && held.until.is_some_and(|end| end > now) {
        return Ok(None);
    }
    let epoch = held.epoch + 1;
    tx.execute(
        "UPDATE subject SET lease_epoch = $3, lease_holder = $4, lease_until = $5 WHERE machine = $1 AND id = $2",
        params![M::NAME, id.to_string(), epoch, holder, until],
    )?;
    Ok(Some(Lease { holder: holder.to_owned(), epoch: Epoch(epoch), until }))
}

/// Facts by whoever holds the lease: refused once somebody else has had it since.
fn record_leased<M: Stored>(
    tx: &mut dyn Tx,
    lease: &Lease,
    id: M::Id,
    facts: &[M::Fact],
    at: Timestamp,
) -> Result<Recorded<M>> {
    if held::<M>(tx, id)?.epoch != lease.epoch.0 {
        return Err(StoreError::LeaseLost { holder: lease.holder.clone(), epoch: lease.epoch });
    }
    let subject: M = load_to_change(tx, id)?;
    take_in(tx, &subject, facts, at)
}

impl Store {
    /// Takes facts into a subject: all of them, with their events and all that follows from them, or none.
    pub async fn record<M: Stored>(
        &self,
        life: Life,
        id: M::Id,
        facts: Vec<M::Fact>,
        at: Timestamp,
    ) -> Result<Recorded<M>> {
        self.write(move |tx| record(tx, life, id, &facts, at)).await
    }

    /// A subject that nothing else brings into the world.
    pub async fn create<M: Stored>(&self, subject: M, at: Timestamp) -> Result<()> {
        self.write(move |tx| insert(tx, &subject, at)).await
    }

    pub async fn subject<M: Stored>(&self, id: M::Id) -> Result<M> {
        self.read(move |tx| load(tx, id)).await
    }

    /// What a daemon has to go on with after a restart.
    pub async fn walked<M: Stored>(&self, host: HostId) -> Result<Vec<M>> {
        self.read(move |tx| {
            let sql = format!("{SELECT} AND subject.host = $2 AND subject.walked = 1 ORDER BY subject.id");
            tx.query(&sql, params![M::NAME, host])?.iter().map(read).collect()
        })
        .await
    }

    /// A subject for one of several who could work on it: `None` while another has it.
    pub async fn take_lease<M: Stored>(
        &self,
        id: M::Id,
        holder: String,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Option<Lease>> {
        self.write(move |tx| take_lease::<M>(tx, id, &holder, now, until)).await
    }

    /// As [`Self::record`], by whoever holds a lease.
    pub async fn record_leased<M: Stored>(
        &self,
        lease: Lease,
        id: M::Id,
        facts: Vec<M::Fact>,
        at: Timestamp,
    ) -> Result<Recorded<M>> {
        self.write(move |tx| record_leased(tx, &lease, id, &facts, at)).await
    }
}
