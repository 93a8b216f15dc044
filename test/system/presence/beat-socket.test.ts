import test from 'ava';
import {isAway} from '../../../system/presence/beat-socket.js';

const last = {own: '10.0.0.5', others: ['127.0.0.1', '10.0.0.5', '172.17.0.1']};

test('a network is away when the address of the last connection is gone and no other has come', t => {
	t.false(isAway(last, ['127.0.0.1', '10.0.0.5', '172.17.0.1']));
	t.true(isAway(last, ['127.0.0.1', '172.17.0.1']));
	t.true(isAway(last, []));
});

test('a host that has another address now dials from it at once', t => {
	t.false(isAway(last, ['127.0.0.1', '172.17.0.1', '10.0.0.6']));
});

test('before the first connection nothing is known to be away', t => {
	t.false(isAway({own: undefined, others: []}, []));
});
