use camino::*; use dandori_git::*; use dandori_host::*; use std::time::Instant;
fn main(){ let home=Utf8PathBuf::from(std::env::args().nth(1).unwrap()); let mut env=Env::of_process(); env.set("HOME",home.as_str());
 let git=Git::new(&env,"m"); let repo=Repository::discover(&git,&home.join("r")).unwrap();
 let base=repo.resolve_base(None,None,Fetch::Never).unwrap().oid; let old=repo.resolve_base(Some("HEAD~5"),None,Fetch::Never).unwrap().oid;
 let pool=Pool::new(&repo,&home.join("s/pool"),&home.join("s/trash"));
 let new=|n:&str|NewWorktree{path:home.join("s/w").join(n),root:home.join("s/w"),branch:format!("d/{n}"),base:base.clone(),existing:ExistingBranch::Refuse};
 let t=Instant::now(); let mut c=Cmd::new("git",&env); c=c.args(["worktree","add","-q","--no-track","-b","plain"]).arg(home.join("plain").as_str()).arg(base.as_str()).cwd(repo.root()); c.run().unwrap(); println!("git worktree add {:?}",t.elapsed());
 let t=Instant::now(); repo.add_worktree(&new("a")).unwrap(); println!("add_worktree {:?}",t.elapsed());
 let t=Instant::now(); pool.fill(&base,3,0).unwrap(); println!("fill 3 {:?}",t.elapsed());
 for n in ["b","c","d"]{ let t=Instant::now(); let a=pool.claim(&new(n)).unwrap().unwrap(); println!("claim {:?} {:?}",a.origin,t.elapsed());
  let t=Instant::now(); a.tree.state().unwrap(); println!("  state {:?}",t.elapsed());
  let t=Instant::now(); a.tree.stage(&[]).unwrap(); println!("  stage {:?}",t.elapsed());}
 pool.fill(&old,2,0).unwrap();
 for n in ["e","f"]{ let t=Instant::now(); let a=pool.claim(&new(n)).unwrap().unwrap(); println!("claim {:?} {:?}",a.origin,t.elapsed());}
 for n in ["a","b","c","d","e","f"]{ let t=Instant::now(); repo.remove_worktree(&home.join("s/w").join(n),&home.join("s/trash"),Some(&format!("d/{n}"))).unwrap(); println!("remove {:?}",t.elapsed());}
 let t=Instant::now(); empty_trash(&home.join("s/trash")).unwrap(); println!("empty_trash {:?}",t.elapsed());
}
