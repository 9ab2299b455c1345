//! Tools shared out over agents.

use proptest::prelude::*;
use toolcrib_search::{
    Overlap, Partition, PartitionAgent, PartitionError, PartitionSettings, PlacementReason,
    ToolDocument, partition,
};

use crate::sample::{documents, tool};

fn agents(count: usize) -> PartitionSettings<'static> {
    PartitionSettings {
        agents: vec![PartitionAgent::default(); count],
        ..PartitionSettings::default()
    }
}

fn roles<'a>(roles: &[&'a str]) -> PartitionSettings<'a> {
    let agent =
        |role: &&'a str| PartitionAgent { role: (*role).into(), ..PartitionAgent::default() };
    PartitionSettings { agents: roles.iter().map(agent).collect(), ..PartitionSettings::default() }
}

/// The names in each group.
fn names(documents: &[ToolDocument<'_>], found: &Partition) -> Vec<Vec<String>> {
    let name = |at: usize| documents[at].name.to_string();
    let group = |group: &Vec<toolcrib_search::PlacedTool>| {
        group.iter().map(|placed| name(placed.document)).collect()
    };
    found.groups.iter().map(group).collect()
}

/// A shop with three things in it, of which orders belong to customers.
fn shop() -> Vec<ToolDocument<'static>> {
    let reads =
        |name: &str, summary: &str, arguments: &[&str]| tool("shop", name, summary, arguments);
    let writes = |name: &str, summary: &str, arguments: &[&str]| ToolDocument {
        writes: true,
        ..tool("shop", name, summary, arguments)
    };
    vec![
        reads("find_customer", "Finds a customer by name.", &["name"]),
        reads("list_invoices", "Lists the invoices of a customer.", &["customer_id"]),
        writes("refund_invoice", "Pays an invoice back.", &["invoice_id", "customer_id"]),
        writes("void_invoice", "Makes an invoice void.", &["invoice_id"]),
        reads("list_parcels", "Lists the parcels on their way.", &["depot"]),
        writes("send_parcel", "Sends a parcel to a depot.", &["depot", "weight"]),
        writes("return_parcel", "Calls a parcel back to its depot.", &["parcel", "customer_id"]),
        writes("rename_customer", "Gives a customer another name.", &["customer_id", "name"]),
    ]
}

#[test]
fn what_belongs_together_stays_together() {
    let documents = documents();
    let found = partition(&documents, &agents(2)).unwrap();
    for group in &found.groups {
        let categories: Vec<_> =
            group.iter().map(|placed| documents[placed.document].category.clone()).collect();
        let has = |name: &str| categories.iter().any(|category| category.as_deref() == Some(name));
        assert!(!(has("Calendar") && has("Mail")), "{:?}", names(&documents, &found));
    }
    let all: usize = found.groups.iter().map(Vec::len).sum();
    assert_eq!(all, documents.len());
    assert!(found.cohesion > 0.5, "{found:?}");
}

#[test]
fn an_agent_with_a_role_has_what_fits_it_and_others_have_the_rest() {
    let documents = shop();
    let found =
        partition(&documents, &roles(&["Invoices and refunds", "Parcels and depots"])).unwrap();
    let named = names(&documents, &found);
    for invoice in ["list_invoices", "refund_invoice", "void_invoice"] {
        assert!(named[0].iter().any(|name| name == invoice), "{named:?}");
    }
    for parcel in ["list_parcels", "send_parcel", "return_parcel"] {
        assert!(named[1].iter().any(|name| name == parcel), "{named:?}");
    }
    let parcel =
        found.groups[1].iter().find(|placed| documents[placed.document].name == "send_parcel");
    assert_eq!(parcel.unwrap().why, PlacementReason::Role);
}

#[test]
fn a_role_that_nothing_fits_has_nothing_and_roles_in_another_language_do_not_matter() {
    let documents = shop();
    let found =
        partition(&documents, &roles(&["Invoices", "Zebras", "Parcels", "Customers"])).unwrap();
    let named = names(&documents, &found);
    assert!(named[1].is_empty(), "{named:?}");
    assert_eq!(named.iter().map(Vec::len).sum::<usize>(), documents.len(), "{named:?}");
    let foreign = partition(&documents, &roles(&["Rechnungen", "Pakete"])).unwrap();
    assert_eq!(foreign, partition(&documents, &agents(2)).unwrap());
}

#[test]
fn more_agents_than_tools_are_given_nothing_rather_than_anything() {
    let documents = shop();
    let found = partition(&documents, &agents(11)).unwrap();
    let sizes: Vec<_> = found.groups.iter().map(Vec::len).collect();
    assert_eq!(sizes, [1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0]);
    let one = partition(&documents, &agents(1)).unwrap();
    assert_eq!(one.groups[0].len(), documents.len());
    let none = partition(&[], &agents(2)).unwrap();
    assert_eq!(none.groups, [vec![], vec![]]);
}

#[test]
fn what_an_agent_has_in_any_case_is_there_first() {
    let documents = shop();
    let mut wished = roles(&["Parcels", "Invoices"]);
    // `void_invoice`, of all.
    wished.agents[0].fixed = vec![3];
    wished.capacity = Some(4);
    let found = partition(&documents, &wished).unwrap();
    let fixed = found.groups[0].iter().find(|placed| placed.document == 3).unwrap();
    assert_eq!(fixed.why, PlacementReason::Fixed);
    assert!(found.groups.iter().all(|group| group.len() == 4), "{found:?}");
}

#[test]
fn tools_without_room_are_told_with_how_many_there_are() {
    let documents = shop();
    let wished = PartitionSettings { capacity: Some(3), ..agents(2) };
    let error = partition(&documents, &wished).unwrap_err();
    let over = PartitionError::OverCapacity { tools: 8, capacity: 3, room: 6 };
    assert_eq!(error, over);
    let mut wished = PartitionSettings { capacity: Some(4), ..agents(2) };
    wished.agents[1].fixed = vec![0, 1, 2, 3, 4, 4];
    let error = partition(&documents, &wished).unwrap_err();
    assert_eq!(error, PartitionError::FixedOverCapacity { agent: 1, fixed: 5, capacity: 4 });
    // What both have in any case takes the room of another.
    let mut wished = PartitionSettings { capacity: Some(4), ..agents(2) };
    for agent in &mut wished.agents {
        agent.fixed = vec![0];
    }
    let over = PartitionError::OverCapacity { tools: 8, capacity: 4, room: 8 };
    assert_eq!(partition(&documents, &wished).unwrap_err(), over);
    assert_eq!(partition(&documents, &agents(0)).unwrap_err(), PartitionError::NoAgent);
}

#[test]
fn what_the_tools_of_another_group_need_is_shared_and_writers_are_not() {
    let documents = shop();
    let wished = |overlap, shares_writers| PartitionSettings {
        overlap,
        shares_writers,
        ..roles(&["Invoices", "Parcels", "Customers"])
    };
    let having = |found: &Partition, at: usize| {
        let has = |group: &&Vec<_>| {
            let mut group = group.iter();
            group.any(|placed: &toolcrib_search::PlacedTool| placed.document == at)
        };
        found.groups.iter().filter(has).count()
    };
    let found = partition(&documents, &wished(Overlap::Bridges, false)).unwrap();
    // Invoices, parcels and customers all take the id of a customer.
    assert_eq!(having(&found, 0), 3, "{:?}", names(&documents, &found));
    for (at, document) in documents.iter().enumerate().filter(|(_, document)| document.writes) {
        assert_eq!(having(&found, at), 1, "{}", document.name);
    }
    let apart = partition(&documents, &wished(Overlap::None, false)).unwrap();
    assert!((0..documents.len()).all(|at| having(&apart, at) == 1));
    let two = partition(&documents, &wished(Overlap::UpTo(2), true)).unwrap();
    assert!((0..documents.len()).all(|at| (1..=2).contains(&having(&two, at))));
    assert!((0..documents.len()).any(|at| documents[at].writes && having(&two, at) == 2));
}

#[test]
fn a_closed_agent_has_what_is_its_own_and_the_others_share_the_rest() {
    let documents = shop();
    let mut wished = roles(&["Invoices", "Parcels", ""]);
    // `find_customer` and `void_invoice`.
    (wished.agents[1].fixed, wished.agents[1].closed) = (vec![0, 3], true);
    (wished.agents[2].fixed, wished.agents[2].closed) = (vec![], true);
    let found = partition(&documents, &wished).unwrap();
    let named = names(&documents, &found);
    assert_eq!(named[1], ["find_customer", "void_invoice"]);
    assert_eq!((named[0].len(), named[2].len()), (6, 0), "{named:?}");
    // No other has a share in it, and it has none in theirs, but what only reads may be lent.
    wished.overlap = Overlap::UpTo(3);
    let found = partition(&documents, &wished).unwrap();
    assert_eq!(names(&documents, &found)[1..], named[1..]);
    wished.capacity = Some(5);
    let over = PartitionError::OverCapacity { tools: 6, capacity: 5, room: 5 };
    assert_eq!(partition(&documents, &wished).unwrap_err(), over);
    (wished.agents[0].closed, wished.capacity) = (true, None);
    assert_eq!(partition(&documents, &wished).unwrap_err(), PartitionError::NoAgent);
    let own = [documents[0].clone(), documents[3].clone()];
    wished.agents[1].fixed = vec![0, 1];
    let found = partition(&own, &wished).unwrap();
    assert_eq!(names(&own, &found), [vec![], vec!["find_customer", "void_invoice"], vec![]]);
}

fn anything() -> impl Strategy<Value = Vec<ToolDocument<'static>>> {
    let words = "(order|invoice|user|Größe|天气|list|get|event){1,3}";
    let one = (words, "[a-c]?", "[ab]?", prop::option::of("(order|user)_id"), any::<bool>());
    prop::collection::vec(one, 0..24).prop_map(|all| {
        let document = |(at, (name, label, source, argument, writes))| {
            let (name, label, source): (String, String, String) = (name, label, source);
            let argument: Option<String> = argument;
            let arguments: Vec<&str> = argument.as_deref().into_iter().collect();
            ToolDocument {
                category: Some(label.into()),
                writes,
                ..tool(&source, &format!("{name}_{at}"), "Does it.", &arguments)
            }
        };
        all.into_iter().enumerate().map(document).collect()
    })
}

/// Worlds of as many tools each, which have no word in common with another.
fn worlds() -> impl Strategy<Value = (usize, usize, Vec<ToolDocument<'static>>)> {
    let things = ["order", "parcel", "meadow", "violin", "planet"];
    (2_usize..=things.len(), 2_usize..8).prop_flat_map(move |(worlds, size)| {
        let tools = things.iter().take(worlds).flat_map(|thing| {
            (0..size).map(move |at| {
                let verb = ["list", "find", "show", "send", "void", "open", "copy"][at];
                tool("shop", &format!("{verb}_{thing}"), &format!("It {verb}s a {thing}."), &[])
            })
        });
        (Just(worlds), Just(size), Just(tools.collect::<Vec<_>>()).prop_shuffle())
    })
}

proptest! {
    #[test]
    fn what_shares_a_thing_is_never_torn_apart((worlds, size, documents) in worlds()) {
        let found = partition(&documents, &agents(worlds)).unwrap();
        for group in names(&documents, &found) {
            prop_assert_eq!(group.len(), size, "{:?}", group);
            let thing = |name: &String| name.split_once('_').unwrap().1.to_owned();
            prop_assert!(group.iter().all(|name| thing(name) == thing(&group[0])), "{:?}", group);
        }
    }

    #[test]
    fn every_tool_has_a_place_in_whatever_order_they_come(
        documents in anything(),
        roles in prop::collection::vec("(order|user|zebra|)", 1..6),
        fixed in prop::collection::vec((0_usize..6, 0_usize..24), 0..4),
        capacity in prop::option::of(1_usize..12),
        overlap in prop_oneof![
            Just(Overlap::None), Just(Overlap::Bridges), (0_usize..4).prop_map(Overlap::UpTo)
        ],
        (shares_writers, closed) in (any::<bool>(), prop::option::of(0_usize..6)),
        turn in 0_usize..24,
    ) {
        let agent = |(at, role): (usize, &'_ String)| PartitionAgent {
            role: role.clone().into(),
            fixed: fixed
                .iter()
                .filter(|(agent, tool)| *agent == at && *tool < documents.len())
                .map(|(_, tool)| *tool)
                .collect(),
            closed: closed == Some(at),
        };
        let settings = PartitionSettings {
            agents: roles.iter().enumerate().map(agent).collect(),
            capacity, overlap, shares_writers,
        };
        let found = partition(&documents, &settings);
        // The same tools in another order.
        let count = documents.len();
        let by = turn % count.max(1);
        let mut turned = documents.clone();
        turned.rotate_left(by);
        let mut other = settings.clone();
        for agent in &mut other.agents {
            for tool in &mut agent.fixed {
                *tool = (*tool + count - by) % count.max(1);
            }
        }
        let again = partition(&turned, &other);
        let Ok(found) = found else {
            prop_assert_eq!(found, again);
            return Ok(());
        };
        let again = again.unwrap();
        prop_assert_eq!(names(&documents, &found), names(&turned, &again));
        prop_assert!((0.0..=1.0).contains(&found.cohesion));
        let mut homes = vec![0_usize; count];
        for (group, agent) in found.groups.iter().zip(&settings.agents) {
            prop_assert!(capacity.is_none_or(|most| group.len() <= most));
            let mut seen = std::collections::BTreeSet::new();
            for placed in group {
                prop_assert!(seen.insert(placed.document), "twice in a group");
                prop_assert!((0.0..=1.0).contains(&placed.affinity));
                let is_shared = placed.why == PlacementReason::Shared;
                homes[placed.document] += usize::from(!is_shared);
                let writes = documents[placed.document].writes;
                prop_assert!(!is_shared || (overlap != Overlap::None && (shares_writers || !writes)));
            }
            prop_assert!(agent.fixed.iter().all(|tool| seen.contains(tool)));
            prop_assert!(!agent.closed || seen.iter().all(|tool| agent.fixed.contains(tool)));
        }
        for (tool, homes) in homes.iter().enumerate() {
            let fixed = settings.agents.iter().filter(|agent| agent.fixed.contains(&tool)).count();
            prop_assert_eq!(*homes, fixed.max(1));
        }
        if roles.iter().all(String::is_empty) && fixed.is_empty() {
            let filled = found.groups.iter().filter(|group| !group.is_empty()).count();
            let open = settings.agents.iter().filter(|agent| !agent.closed).count();
            prop_assert_eq!(filled, count.min(open));
        }
    }
}
