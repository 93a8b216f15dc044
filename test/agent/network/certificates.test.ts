// The certificates of routes at a node's edge: opened once a version, the one before going on until then, and asked for again where that fails.

import test from 'ava';
import {failed, succeeded, type Outcome} from '../../../api/errors.js';
import {limits} from '../../../api/limits.js';
import type {NetworkChange} from '../../../actors/node/runtime/network-port.js';
import type {FetchedSecret} from '../../../actors/node/runtime/secrets-port.js';
import type {NetworkCertificate} from '../../../actors/protocol/network-object.js';
import {createNodeCertificates} from '../../../agent/network/feed/certificates.js';
import {base64Of} from '../../../api/base64.js';
import {ManualClock} from '../../../system/time/manual-clock.js';

const key = 'certificates/default/web-tls';
const told = (version: string, fields: Partial<NetworkCertificate> = {}): NetworkCertificate => ({
	type: 'certificate',
	namespace: 'default',
	name: 'web-tls',
	version,
	isTls: true,
	...fields,
});

function world() {
	const clock = new ManualClock();
	const asked: {readonly version: string; readonly done: (outcome: Outcome<FetchedSecret>) => void}[] = [];
	const fed: NetworkChange[] = [];
	const certificates = createNodeCertificates({
		clock,
		open: ({version}, done) => void asked.push({version, done}),
		onOpened: change => fed.push(change),
	});
	return {clock, asked, fed, certificates, next: () => asked.shift()};
}

const values = (version: string, words = version): Outcome<FetchedSecret> =>
	succeeded({version, data: {'tls.crt': base64Of(`crt ${words}`), 'tls.key': base64Of(`key ${words}`)}});
const opened = (words: string) => ({certificate: `crt ${words}`, privateKey: `key ${words}`});

test('a certificate goes on without its values until they are opened, and a newer one with those of before', t => {
	const {asked, fed, certificates, next} = world();
	certificates.set(key, told('1'));
	t.deepEqual(certificates.fed({key, object: told('1')}), {key, object: told('1')});
	next()?.done(values('1'));
	t.deepEqual(fed, [{key, object: {...told('1'), opened: opened('1')}}]);
	certificates.set(key, told('1'));
	t.deepEqual(asked, [], 'told again, it is not opened again');
	certificates.set(key, told('2'));
	t.deepEqual(certificates.fed({key, object: told('2')}).object, {...told('2'), opened: opened('1')});
	next()?.done(values('2'));
	t.deepEqual(certificates.fed({key, object: told('2')}).object, {...told('2'), opened: opened('2')});
});

test('what cannot be opened is said and asked for again, ever more slowly; an older version serves meanwhile', t => {
	const {clock, asked, fed, certificates, next} = world();
	const unreachable = failed('ERR_NOT_REACHABLE', {message: 'no server answers'});
	certificates.set(key, told('2'));
	next()?.done(unreachable);
	t.deepEqual(fed.at(-1)?.object, {...told('2'), problem: 'no server answers'});
	clock.advance(limits.certificateAgainFirstMs);
	next()?.done(values('1'));
	t.deepEqual(fed.at(-1)?.object, {...told('2'), opened: opened('1')});
	clock.advance(limits.certificateAgainFirstMs);
	t.is(asked.length, 0);
	clock.advance(limits.certificateAgainFirstMs);
	next()?.done(unreachable);
	t.deepEqual(fed.at(-1)?.object, {...told('2'), opened: opened('1')}, 'what is there goes on');
	clock.advance(limits.certificateAgainMaxMs);
	next()?.done(values('2'));
	clock.advance(10 * limits.certificateAgainMaxMs);
	t.is(asked.length, 0);
	t.deepEqual(fed.at(-1)?.object, {...told('2'), opened: opened('2')});
});

test('what went meanwhile is not fed, one of another type is not opened, and one that is too large goes nowhere', t => {
	const {asked, fed, certificates, next} = world();
	certificates.set(key, told('1'));
	certificates.set(key, undefined);
	next()?.done(values('1'));
	t.deepEqual(fed, []);
	certificates.set(key, told('2', {isTls: false}));
	t.deepEqual(asked, []);
	certificates.set(key, told('3'));
	next()?.done(values('3', 'x'.repeat(limits.certificateBytes)));
	t.deepEqual(fed.at(-1)?.object, {
		...told('3'),
		opened: {certificate: '', privateKey: ''},
		problem: `its tls.crt has more than ${limits.certificateBytes} bytes`,
	});
	certificates.set(key, told('4'));
	certificates.close();
	next()?.done(values('4'));
	t.is(fed.length, 1);
});
