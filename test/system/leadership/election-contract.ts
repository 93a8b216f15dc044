// What every election promises. The virtual world's runs on a clock that is moved, etcd's on real time.

import type {TestFn} from 'ava';
import type {Election, Term} from '../../../system/leadership/election.js';

export type CandidateUnderTest = {
	readonly election: Election;
	/** Monotonic time as the candidate's process sees it. */
	readonly nowMs: () => number;
	/** Cuts the line to the lease; heals it. */
	readonly cut: () => void;
	readonly heal: () => void;
};

export type ElectionUnderTest = {
	readonly candidate: () => Promise<CandidateUnderTest>;
	/** Lets time pass until it holds; throws when it does not within ten seconds. */
	readonly until: (what: string, holds: () => boolean) => Promise<void>;
};

type Make = (t: {teardown: (end: () => void | Promise<void>) => void}) => Promise<ElectionUnderTest>;

type Runner = CandidateUnderTest & {readonly log: string[]; readonly term: () => Term | undefined; readonly leads: () => boolean};

async function runner({candidate}: ElectionUnderTest, name: string, all: Runner[] = []): Promise<Runner> {
	const under = await candidate();
	const log: string[] = [];
	let term: Term | undefined;
	const made: Runner = {
		...under,
		log,
		term: () => term,
		leads: () => term !== undefined && under.nowMs() < term.untilMs(),
	};
	under.election.run(
		{id: name, api: `https://${name}:1`},
		{
			elected(given) {
				const others = all.filter(other => other !== made && other.leads());
				log.push(others.length === 0 ? 'elected' : 'elected while another leads');
				term = given;
			},
			lost() {
				log.push('lost');
				term = undefined;
			},
			changed: () => undefined,
		},
	);
	all.push(made);
	return made;
}

export function electionContract(test: TestFn, make: Make): void {
	test('one of two is elected, and both know who leads and who there is', async t => {
		const under = await make(t);
		const [a, b] = [await runner(under, 'a'), await runner(under, 'b')];
		await under.until('one leads and both know', () =>
			[a, b].every(({election}) => election.leader() !== undefined && election.servers().length === 2),
		);
		t.is([a, b].filter(each => each.leads()).length, 1);
		t.is(a.election.leader()?.id, b.election.leader()?.id);
		t.deepEqual(
			a.election
				.servers()
				.map(({api}) => api)
				.sort(),
			['https://a:1', 'https://b:1'],
		);
	});

	test('a term that is renewed goes on for many times its lease', async t => {
		const under = await make(t);
		const a = await runner(under, 'a');
		await under.until('it leads', a.leads);
		const atMs = a.nowMs();
		await under.until('three leases are over', () => a.nowMs() > atMs + 6_000);
		t.deepEqual(a.log, ['elected']);
		t.true(a.leads());
	});

	test('who resigns makes room at once, and stands again', async t => {
		const under = await make(t);
		const all: Runner[] = [];
		const a = await runner(under, 'a', all);
		await under.until('a leads', a.leads);
		const b = await runner(under, 'b', all);
		await under.until('b knows', () => b.election.leader()?.id === 'a');
		const atMs = b.nowMs();
		await a.term()?.resign();
		t.deepEqual(a.log, ['elected', 'lost']);
		await under.until('b leads', b.leads);
		t.true(b.nowMs() - atMs < 1_000, `after ${b.nowMs() - atMs} ms`);
		await b.election.close();
		t.deepEqual(b.log, ['elected', 'lost']);
		await under.until('a leads again', a.leads);
		t.deepEqual(a.log, ['elected', 'lost', 'elected']);
	});

	test('a leader that is cut off has lost before another is elected, and is elected again only when that one goes', async t => {
		const under = await make(t);
		const all: Runner[] = [];
		const a = await runner(under, 'a', all);
		await under.until('a leads', a.leads);
		const b = await runner(under, 'b', all);
		await under.until('b knows', () => b.election.leader()?.id === 'a');
		a.cut();
		await under.until('b leads', b.leads);
		t.deepEqual([a.log, b.log], [['elected', 'lost'], ['elected']]);
		t.false(a.leads());
		a.heal();
		await under.until('a knows', () => a.election.leader()?.id === 'b' && a.election.servers().length === 2);
		t.deepEqual([a.log, b.log], [['elected', 'lost'], ['elected']]);
		await b.election.close();
		await under.until('a leads again', a.leads);
	});

	test('who cannot see the lease names no leader, and says that it does not answer', async t => {
		const under = await make(t);
		const a = await runner(under, 'a');
		await under.until('a leads', a.leads);
		const b = await runner(under, 'b');
		await under.until('b knows', () => b.election.leader()?.id === 'a');
		t.true(b.election.answers());
		b.cut();
		await under.until('b names nobody', () => b.election.leader() === undefined && !b.election.answers());
		b.heal();
		await under.until('b knows again', () => b.election.leader()?.id === 'a' && b.election.answers());
		t.deepEqual([a.log, b.log], [['elected'], []]);
	});

	test('a server that is alone and was cut off leads again once it is back', async t => {
		const under = await make(t);
		const a = await runner(under, 'a');
		await under.until('a leads', a.leads);
		a.cut();
		await under.until('a has lost', () => a.log.includes('lost'));
		a.heal();
		await under.until('a leads again', a.leads);
		t.deepEqual(a.log, ['elected', 'lost', 'elected']);
	});
}
