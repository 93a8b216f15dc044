// Instances of functions as the process runtime runs them: started from an archive, ready when they serve, called over their socket.

import test from 'ava';
import {functionNode} from './_instance.js';

const languages = {
	python: {
		'func.py': 'import os\n\ndef main(params):\n    return {"sum": params["x"] + params["y"], "secret": os.environ.get("SECRET")}\n',
	},
	nodejs: {'func.mjs': 'export default ({x, y}) => ({sum: x + y, secret: process.env.SECRET ?? null});\n'},
} as const;

for (const language of ['python', 'nodejs'] as const)
	test(`an instance of ${language} serves calls of this process and of sessions, with the environment of its pod`, async t => {
		const {serve, call, callBySession} = functionNode(t);
		await serve('uid-1', language, languages[language], {env: [{name: 'SECRET', value: 'told', isSecret: true}]});
		const {status, text} = await call('uid-1', {x: 1, y: 2});
		t.deepEqual([status, JSON.parse(text)], [200, {sum: 3, secret: 'told'}]);
		const {stdout, exitCode} = await callBySession('uid-1', {x: 3, y: 4});
		t.regex(stdout, /^HTTP\/1\.1 200 /);
		t.true(stdout.includes('"sum":7'), stdout);
		t.is(exitCode, 0);
	});
