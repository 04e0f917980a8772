//! What waits for what, as numbers: the place of each in its list.

/// A circle, as the places along it with the first one again at the end; `None`: everything can be done in some order.
pub fn cycle(waits_for: &[Vec<usize>]) -> Option<Vec<usize>> {
    const NEW: u8 = 0;
    const OPEN: u8 = 1;
    const DONE: u8 = 2;
    let mut marks = vec![NEW; waits_for.len()];
    for start in 0..waits_for.len() {
        if marks.get(start) != Some(&NEW) {
            continue;
        }
        // The way from the start, each with how many of its edges have been followed. Not recursive: a chain may be long.
        let mut way: Vec<(usize, usize)> = vec![(start, 0)];
        set(&mut marks, start, OPEN);
        while let Some((at, followed)) = way.last_mut() {
            let next = waits_for.get(*at).and_then(|edges| edges.get(*followed)).copied();
            *followed += 1;
            match next {
                Some(next) => match marks.get(next).copied() {
                    Some(NEW) => {
                        set(&mut marks, next, OPEN);
                        way.push((next, 0));
                    }
                    Some(OPEN) => {
                        let mut circle: Vec<usize> =
                            way.iter().map(|(at, _)| *at).skip_while(|at| *at != next).collect();
                        circle.push(next);
                        return Some(circle);
                    }
                    _ => {}
                },
                None => {
                    let at = *at;
                    set(&mut marks, at, DONE);
                    way.pop();
                }
            }
        }
    }
    None
}

fn set(marks: &mut [u8], at: usize, mark: u8) {
    if let Some(slot) = marks.get_mut(at) {
        *slot = mark;
    }
}

/// How many have to be done one after the other at least; 0 where there is a circle.
pub fn depth(waits_for: &[Vec<usize>]) -> usize {
    if cycle(waits_for).is_some() {
        return 0;
    }
    let mut depths: Vec<Option<usize>> = vec![None; waits_for.len()];
    for start in 0..waits_for.len() {
        let mut way = vec![start];
        while let Some(at) = way.last().copied() {
            let edges = waits_for.get(at).map(Vec::as_slice).unwrap_or_default();
            let depth_of = |i: &usize| depths.get(*i).copied().flatten();
            match edges.iter().find(|i| depth_of(i).is_none() && **i < waits_for.len()) {
                Some(first) => way.push(*first),
                None => {
                    let below = edges.iter().filter_map(depth_of).max().unwrap_or(0);
                    if let Some(slot) = depths.get_mut(at) {
                        *slot = Some(below + 1);
                    }
                    way.pop();
                }
            }
        }
    }
    depths.into_iter().flatten().max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_circle_is_told_from_its_first_place_to_its_first_place() {
        assert_eq!(cycle(&[vec![], vec![0], vec![0], vec![1, 2]]), None, "a diamond is none");
        assert_eq!(cycle(&[vec![1], vec![2], vec![1]]), Some(vec![1, 2, 1]));
        assert_eq!(cycle(&[vec![0]]), Some(vec![0, 0]));
        let long: Vec<Vec<usize>> = (0..100_000).map(|i| if i == 0 { vec![] } else { vec![i - 1] }).collect();
        assert_eq!(cycle(&long), None);
    }

    #[test]
    fn depth_is_the_longest_chain() {
        assert_eq!(depth(&[]), 0);
        assert_eq!(depth(&[vec![], vec![]]), 1);
        assert_eq!(depth(&[vec![], vec![0], vec![0], vec![1, 2]]), 3);
    }

    proptest! {
        #[test]
        fn what_can_be_put_in_order_has_no_circle_and_what_cannot_has(
            edges in prop::collection::vec((0usize..12, 0usize..12), 0..30)
        ) {
            let mut waits_for = vec![Vec::new(); 12];
            for (from, to) in edges {
                waits_for[from].push(to);
            }
            // By taking away whatever waits for nothing, again and again.
            let mut left: Vec<usize> = (0..12).collect();
            loop {
                let before = left.len();
                let now = left.clone();
                left.retain(|i| waits_for[*i].iter().any(|j| now.contains(j)));
                if left.len() == before { break; }
            }
            match cycle(&waits_for) {
                None => prop_assert!(left.is_empty()),
                Some(circle) => {
                    prop_assert!(circle.len() >= 2 && circle.first() == circle.last());
                    prop_assert!(circle.windows(2).all(|pair| waits_for[pair[0]].contains(&pair[1])));
                }
            }
        }
    }
}
