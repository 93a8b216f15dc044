// Names of images: what Docker takes, and what it refuses.

import test from 'ava';
import {readImageName} from '../../api/image-name.js';

const sha256 = `sha256:${'0123456789abcdef'.repeat(4)}`;

const read: readonly (readonly [
	text: string,
	registry: string | undefined,
	path: string,
	tag: string | undefined,
	digest: string | undefined,
])[] = [
	['nginx', undefined, 'nginx', undefined, undefined],
	['nginx:1.27', undefined, 'nginx', '1.27', undefined],
	['team/app:V1_2-rc.1', undefined, 'team/app', 'V1_2-rc.1', undefined],
	['localhost/app', 'localhost', 'app', undefined, undefined],
	['localhost:5000', undefined, 'localhost', '5000', undefined],
	['Images.example.com:5000/a/b-c/d__e.f:1', 'Images.example.com:5000', 'a/b-c/d__e.f', '1', undefined],
	['[2001:db8::1]:5000/app', '[2001:db8::1]:5000', 'app', undefined, undefined],
	['a---b', undefined, 'a---b', undefined, undefined],
	[`app@${sha256}`, undefined, 'app', undefined, sha256],
	[`10.0.0.1/app:1@${sha256}`, '10.0.0.1', 'app', '1', sha256],
	['0'.repeat(63), undefined, '0'.repeat(63), undefined, undefined],
	['a'.repeat(255), undefined, 'a'.repeat(255), undefined, undefined],
	[`a:${'b'.repeat(128)}`, undefined, 'a', 'b'.repeat(128), undefined],
];

for (const [text, registry, path, tag, digest] of read)
	test(`reads ${text.slice(0, 40)}`, t => t.deepEqual(readImageName(text), {registry, path, tag, digest}));

const lowerCase = 'its name has to be in lower case';
const tagWords = 'its tag has to be up to 128 letters, digits, "_", "." and "-", not beginning with "." or "-"';
const digestWords = 'its digest has to be "sha256:" and 64 hexadecimal digits in lower case';

const refused: readonly (readonly [text: string, problem: string])[] = [
	['', 'it has no name'],
	[':1', 'it has no name'],
	['localhost/', 'it has no name'],
	['Nginx', lowerCase],
	['Team/app', lowerCase],
	['localhost/App:1', lowerCase],
	['a//b', 'there is nothing between two of its slashes, or at its ends'],
	['/a', 'there is nothing between two of its slashes, or at its ends'],
	['a/', 'there is nothing between two of its slashes, or at its ends'],
	['a b', '"a b" has to be lower-case letters and digits, with one ".", one or two "_" or any "-" between them'],
	['a..b', '"a..b" has to be lower-case letters and digits, with one ".", one or two "_" or any "-" between them'],
	['a___b', '"a___b" has to be lower-case letters and digits, with one ".", one or two "_" or any "-" between them'],
	['-a', '"-a" has to be lower-case letters and digits, with one ".", one or two "_" or any "-" between them'],
	['a.b:port/c', '"a.b:port" is no address of a registry'],
	['-a.b/c', '"-a.b" is no address of a registry'],
	['a:', tagWords],
	['a:.1', tagWords],
	['a:1 ', tagWords],
	['a:1\n', tagWords],
	[`a:${'b'.repeat(129)}`, tagWords],
	['a@', digestWords],
	['a@sha256:12', digestWords],
	[`a@${sha256.toUpperCase()}`, digestWords],
	[`a@md5:${'0'.repeat(32)}`, digestWords],
	[`a@constructor:${'0'.repeat(64)}`, digestWords],
	[`a@${sha256}@${sha256}`, digestWords],
	['0'.repeat(64), '64 hexadecimal digits are the id of an image, and no name'],
	['a'.repeat(256), 'it has 256 characters without its tag, and 255 are allowed'],
	['a'.repeat(2000), 'it has 2000 characters'],
];

for (const [text, problem] of refused)
	test(`refuses ${JSON.stringify(text.slice(0, 40))} of ${text.length}`, t => t.is(readImageName(text), problem));
