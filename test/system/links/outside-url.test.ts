import test from 'ava';
import {parseOutsideUrl} from '../../../system/links/outside-url.js';

test('a broker’s URL is read; the login is not part of the address', t => {
	t.deepEqual(parseOutsideUrl('mqtts://control:p%40ss%2F@mq.example:8884'), {url: 'mqtts://mq.example:8884', password: 'p@ss/'});
	t.deepEqual(parseOutsideUrl('mqtt://control:x@[::1]'), {url: 'mqtt://[::1]:1883', password: 'x'});
	t.deepEqual(parseOutsideUrl('mqtts://control:x@h/'), {url: 'mqtts://h:8883', password: 'x'});
});

test('what is no broker’s URL is told, and the password never is', t => {
	const bad = [
		'',
		'h:1883',
		'http://control:hush@h',
		'mqtt://control:hush@',
		'mqtt://h:1883',
		'mqtt://control@h',
		'mqtt://admin:hush@h',
		'mqtt://control:hush@h/path',
		'mqtt://control:hush@h?x',
		'mqtt://control:hush%zz@h',
		'mqtt://control:hush@h:99999',
	];
	for (const text of bad) {
		const problem = parseOutsideUrl(text);
		if (typeof problem !== 'string') return t.fail(text);
		t.notRegex(problem, /hush/);
	}
});
