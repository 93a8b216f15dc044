// A leader whose term is over commits nothing, answers nothing and orders nothing.

import test from 'ava';
import type {Effect} from '../../../system/kernel/behavior.js';
import type {Link, Packet} from '../../../system/links/link.js';
import {createMandate, linksWhile} from '../../../system/leadership/mandate.js';
import {recordWorld, type RecordWorld} from '../commit/record-world.js';

const far = 'troupe://elsewhere/x';
const orders = (count: number): Effect[] =>
	Array.from({length: count}, (_, at): Effect => ({type: 'tell', to: far, message: {type: `order ${at}`}}));

function ledWorld(): RecordWorld & {readonly term: {over: boolean}; readonly performed: string[]} {
	const term = {over: false};
	const performed: string[] = [];
	const world = recordWorld({mayAct: () => !term.over, perform: command => void performed.push(command.type)});
	return {...world, term, performed};
}

test('in a term everything leaves as ever', t => {
	const world = ledWorld();
	world.create({name: 'a'});
	t.like(world.answer('a', {type: 'write', spec: {n: 1}, effects: orders(3)}), {ok: true});
	t.deepEqual(world.far, ['order 0', 'order 1', 'order 2']);
	t.deepEqual(world.fenced, []);
});

test('a batch that was durable only after the end is told to nobody, and none of its 500 orders leaves', t => {
	const world = ledWorld();
	world.create({name: 'a'});
	world.hold();
	const outcomes = world.ask('a', {type: 'write', spec: {n: 1}, effects: orders(500)});
	world.run();
	const changes = world.changes.length;
	world.term.over = true;
	world.release();
	t.deepEqual(world.far, []);
	t.is(world.changes.length, changes);
	t.like(outcomes[0], {ok: false, error: {code: 'ERR_OUTCOME_UNKNOWN'}});
	t.is(outcomes.length, 1);
	t.deepEqual(world.fenced, ['the term of office is over']);
});

test('500 effects that wait in actors are not let out after the end', t => {
	const world = ledWorld();
	for (let at = 0; at < 500; at++) world.create({name: `r${at}`});
	const outcomes = Array.from({length: 500}, (_, at) => world.ask(`r${at}`, {type: 'act', effects: orders(1)}));
	world.term.over = true;
	world.run();
	world.pass(60_000);
	t.deepEqual(world.far, []);
	t.true(outcomes.flat().every(outcome => !outcome.ok));
	t.is(world.fenced.length, 1);
});

test('no batch is sent after the end, and the write has surely not been made', t => {
	const world = ledWorld();
	world.create({name: 'a'});
	const batches = world.batches();
	world.term.over = true;
	t.like(world.answer('a', {type: 'write', spec: {n: 1}}), {ok: false, error: {code: 'ERR_STORE'}});
	t.is(world.batches(), batches);
	t.is(world.fenced.length, 1);
});

test('a read answers nothing that could be old', t => {
	const world = ledWorld();
	world.create({name: 'a'});
	world.term.over = true;
	t.like(world.answer('a', {type: 'get'}), {ok: false, error: {code: 'ERR_OUTCOME_UNKNOWN'}});
});

test('no command runs at the edge after the end', t => {
	const world = ledWorld();
	const perform: Effect = {type: 'perform', command: {type: 'start'}, key: 'k', as: 'started'};
	world.tellRoot({type: 'act', effects: [perform]});
	t.deepEqual(world.performed, ['start']);
	world.term.over = true;
	world.tellRoot({type: 'act', effects: [{...perform, key: 'k2'}]});
	t.deepEqual(world.performed, ['start']);
});

test('over is over, even where the clock says otherwise', t => {
	let mayAct = true;
	const ends: string[] = [];
	const later: (() => void)[] = [];
	const mandate = createMandate(
		() => mayAct,
		callback => void later.push(callback),
		message => void ends.push(message),
	);
	t.true(mandate.holds());
	mayAct = false;
	t.false(mandate.holds());
	mayAct = true;
	t.false(mandate.holds());
	mandate.end('another reason');
	t.deepEqual(ends, []);
	for (const callback of later) callback();
	t.deepEqual(ends, ['the term of office is over']);
});

test('links send nothing after the term, and hear as ever', t => {
	const sent: string[] = [];
	let mayAct = true;
	const link: Link = {
		send: to => void sent.push(to),
		onPacket: listener => listener('peer', packet),
		close: () => Promise.resolve(),
	};
	const {control, bulk} = linksWhile({control: link, bulk: link}, () => mayAct);
	control.send('a', packet);
	mayAct = false;
	control.send('b', packet);
	bulk?.send('c', packet);
	t.deepEqual(sent, ['a']);
	t.plan(2);
	control.onPacket(from => t.is(from, 'peer'));
});

const packet: Packet = {boot: 'b', sequence: 0, acknowledged: 0};
