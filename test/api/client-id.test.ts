import test from 'ava';
import {endedBy, formatClientId} from '../../api/client-id.js';

const idOf = (boot: string, what = 'control'): string => formatClientId('node-a.example.com', boot, what);
const lively = (clientId: string) => ({clientId, silentMs: 100});
const silent = (clientId: string) => ({clientId, silentMs: 10_000});

test('connections of one boot are there together', t => {
	t.deepEqual(endedBy(idOf('1', 'bulk'), [lively(idOf('1')), lively(idOf('1', 'beat')), silent(idOf('1', 'bulk'))], 5_000), []);
});

test('a second agent is refused while anything comes from the first', t => {
	t.is(endedBy(idOf('2'), [silent(idOf('1')), lively(idOf('1', 'beat'))], 5_000), undefined);
	t.is(endedBy(idOf('2'), [lively(idOf('2', 'bulk')), lively(idOf('1'))], 5_000), undefined);
});

test('a second agent takes the place of one of which nothing comes any more', t => {
	const dead = [silent(idOf('1')), silent(idOf('1', 'beat'))];
	t.deepEqual(endedBy(idOf('2'), [...dead, lively(idOf('2', 'bulk'))], 5_000), dead);
});

test('ids that are none of ours are told apart as they are', t => {
	t.is(endedBy('mine', [lively('other')], 5_000), undefined);
	t.deepEqual(endedBy('mine', [lively('mine')], 5_000), []);
	t.is(endedBy('', [lively(idOf('1'))], 5_000), undefined);
});
