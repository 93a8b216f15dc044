import test from 'ava';
import {hub, oldHub} from '../../../agent/docker/images/docker-hub.js';
import {parseImageReference} from '../../../agent/docker/images/image-reference.js';

const nameOf = (text: string): string | undefined => parseImageReference(text)?.name;
const digest = `sha256:${'ab'.repeat(32)}`;

test('a name is completed as Docker completes it', t => {
	t.is(nameOf('nginx'), `${hub}/library/nginx:latest`);
	t.is(nameOf('bitnami/redis:7'), `${hub}/bitnami/redis:7`);
	t.is(nameOf(`${hub}/nginx`), `${hub}/library/nginx:latest`);
	t.is(nameOf(`${oldHub}/a/b:1`), `${hub}/a/b:1`);
	t.is(nameOf('localhost/app'), 'localhost/app:latest');
	t.is(nameOf('localhost:5000'), `${hub}/library/localhost:5000`);
	t.is(nameOf('images.local:5000/team/app:v1.2_x'), 'images.local:5000/team/app:v1.2_x');
	t.is(nameOf('[::1]:5000/app'), '[::1]:5000/app:latest');
	t.is(nameOf('a.b/c__d/e-f.g--h:1'), 'a.b/c__d/e-f.g--h:1');
});

test('a digest says more than a tag', t => {
	t.is(nameOf(`nginx@${digest}`), `${hub}/library/nginx@${digest}`);
	t.is(nameOf(`images.local/app:1@${digest}`), `images.local/app@${digest}`);
});

test('what is no name of an image is none', t => {
	for (const wrong of [
		'',
		' ',
		'Nginx',
		'nginx:',
		'nginx:a b',
		'nginx@',
		'nginx@sha256:12',
		'/nginx',
		'nginx/',
		'a//b',
		'a/../b',
		'a..b',
		'-a',
		'a_',
		'images.local:port/a',
		'images_x.local/a',
		'nginx?x=1',
		'nginx#x',
		'nginx%2e',
		'a\nb',
		`nginx:${'x'.repeat(129)}`,
		'x'.repeat(2_000),
		`images.local/${'x/'.repeat(200)}y`,
		'0123456789abcdef'.repeat(4),
	])
		t.is(nameOf(wrong), undefined, wrong);
});

test('a long name of any sort is looked at in no time', t => {
	const startedMs = performance.now();
	for (const part of ['a-', 'a_', 'a.', '-', '.', 'a', '[:', ':0'])
		for (const end of ['', '!', '/', '@']) nameOf(`${part.repeat(1_000 / part.length)}${end}`);
	t.true(performance.now() - startedMs < 500);
});
