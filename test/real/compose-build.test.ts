// `build` in a compose file as a person meets it: the Engine builds what changed, pods follow, and what fails changes nothing.

import {mkdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {dockerCluster} from './_docker-cluster.js';
import {sharedDockerd} from './_dockerd.js';

const dockerd = sharedDockerd(test);
const {home, up, asked, ask, says} = dockerCluster(test, dockerd);

const folder = path.join(home.folder, 'shop');

/** Writes files of the project. */
function write(files: Readonly<Record<string, string>>): void {
	mkdirSync(path.join(folder, 'web'), {recursive: true});
	for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text);
}

const apply = (...flags: readonly string[]) => asked(['apply', '-f', path.join(folder, 'compose.yaml'), ...flags]);
const imageId = async (): Promise<string> => dockerd().docker('images', '-q', '--no-trunc', 'shop_web');

test.serial('a cluster starts', async t => {
	t.regex(await up(), /containers of Docker \d/);
});

test.serial('a folder becomes the image of the pods; another content of it rolls out, the same builds nothing', async t => {
	write({
		'compose.yaml': [
			'services:',
			'  web:',
			'    build: {context: web, args: {WORD: built}}',
			'    command: sh -c "cat /page /made /seen; trap \'exit 0\' TERM; sleep infinity & wait"',
			'    stop_grace_period: 1s',
			'',
		].join('\n'),
		'web/Dockerfile': 'FROM busybox\nARG WORD\nCOPY page /page\nRUN echo "$WORD" >/made\nCOPY . /all\nRUN ls /all >/seen\n',
		'web/.dockerignore': '*.log\n',
		'web/page': 'first\n',
		'web/left.log': 'not sent\n',
	});
	const first = await apply();
	t.is(first.code, 0, first.err);
	t.regex(first.err, /^note: shop_web was built on \S+$/m);
	t.regex(first.out, /^deployment\.apps\/web created$/m);
	await says(/^first\nbuilt\nDockerfile\npage\n$/, 'logs', 'deployment/web');
	const firstId = await imageId();

	const again = await apply();
	t.is(again.code, 0, again.err);
	t.notRegex(again.err, /built/);
	t.regex(again.out, /^deployment\.apps\/web unchanged$/m);
	t.is(await imageId(), firstId);

	write({'web/left.log': 'another one that is not sent\n'});
	t.regex((await apply()).out, /^deployment\.apps\/web unchanged$/m);
	write({'web/page': 'second\n'});
	const changed = await apply();
	t.regex(changed.err, /^note: shop_web was built on \S+$/m);
	t.regex(changed.out, /^deployment\.apps\/web configured$/m);
	await ask('rollout', 'status', 'deployment/web', '--timeout', '30s');
	await says(/^second\nbuilt\nDockerfile\npage\n$/, 'logs', 'deployment/web');
	t.not(await imageId(), firstId);

	write({'web/page': 'third\n'});
	t.is((await apply('--no-build')).code, 0);
	const later = await apply();
	t.regex(later.err, /^note: shop_web was built on \S+$/m);
	t.regex(later.out, /^deployment\.apps\/web configured$/m, 'what was not built then reaches the pods now');
	await ask('rollout', 'status', 'deployment/web', '--timeout', '30s');
	await says(/^third\nbuilt\nDockerfile\npage\n$/, 'logs', 'deployment/web');
});

test.serial('a build that fails is told with the service, the node and what the Engine said last; nothing is applied', async t => {
	const before = await ask('get', 'deployment/web', '-o', 'json');
	const id = await imageId();
	write({'web/Dockerfile': 'FROM busybox\nRUN echo this is said; no-such-program\n'});
	const {code, out, err} = await apply();
	t.is(code, 1);
	t.is(out, '');
	t.regex(err, /compose\.yaml:3:\d+: services\.web\.build: \S+: .*returned a non-zero code: 127\n/);
	t.regex(err, /^error: {3}this is said$/m);
	t.regex(err, /^error: {3}.*no-such-program: not found$/m);
	t.regex(err, /nothing was applied: the image of web could not be built/);
	t.is(await imageId(), id);
	t.deepEqual(JSON.parse(await ask('get', 'deployment/web', '-o', 'json')), JSON.parse(before));
});
