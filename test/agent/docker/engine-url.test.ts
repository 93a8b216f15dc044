import test from 'ava';
import {parseEngineUrl} from '../../../agent/docker/engine/engine-url.js';

test('a socket and a port are where an Engine listens, and nothing else is', t => {
	t.deepEqual(parseEngineUrl('unix:///run/docker.sock'), {socketPath: '/run/docker.sock'});
	t.deepEqual(parseEngineUrl('tcp://127.0.0.1:2375'), {host: '127.0.0.1', port: 2375});
	t.deepEqual(parseEngineUrl('http://[::1]:80/'), {host: '::1', port: 80});
	for (const wrong of [
		'',
		'docker.sock',
		'unix://docker.sock',
		'unix:///a\0b',
		'tcp://host',
		'tcp://host:0',
		'tcp://host:70000',
		'ssh://host:22',
	])
		t.is(parseEngineUrl(wrong), undefined, wrong);
});
