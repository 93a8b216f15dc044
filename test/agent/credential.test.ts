import path from 'node:path';
import test from 'ava';
import {credentialWriter, readCredential, type Credential} from '../../agent/credential.js';
import {directory} from '../server/support.js';

const withServers = (...servers: readonly [string, ...string[]]): Credential => ({node: 'node-a', credential: 'x', ca: 'ca', servers});

test('lists of servers that come at once are written in their order: the newest stays, after a failure too', async t => {
	const folder = await directory(t);
	const file = path.join(folder, 'credential.json');
	const write = credentialWriter(file);
	const lists = Array.from({length: 20}, (_, at) =>
		withServers(`https://host-${at}:1`, ...Array.from({length: at % 2 === 0 ? 2_000 : 0}, () => 'https://x:1')),
	);
	await Promise.all(lists.map(write));
	t.deepEqual(readCredential(file), lists.at(-1));
	const lost = credentialWriter(path.join(folder, 'none', 'credential.json'));
	const failed = lost(withServers('https://a:1'));
	await t.throwsAsync(failed);
	await t.throwsAsync(lost(withServers('https://b:1')), {code: 'ENOENT'});
});
