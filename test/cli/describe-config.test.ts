import test from 'ava';
import {base64Of} from '../../api/base64.js';
import type {ConfigMap} from '../../api/kinds/configmap.js';
import type {Secret} from '../../api/kinds/secret.js';
import {lastAppliedAnnotation} from '../../api/sealed.js';
import {describeConfigMap, describeSecret} from '../../cli/describe/config.js';

const nowMs = Date.parse('2026-01-01T00:00:05Z');
const metadata = {
	name: 'db',
	namespace: 'default',
	uid: 'u',
	resourceVersion: '1',
	generation: 1,
	creationTimestamp: '2026-01-01T00:00:00Z',
};

test('describe shows of a Secret the sizes and no value, not even in what was applied last', t => {
	const data = {password: base64Of('s3cr3t'), empty: '', long: base64Of('ü'.repeat(50))};
	const annotations = {[lastAppliedAnnotation]: `{"data":{"password":"${data.password}"}}`};
	const object: Secret = {apiVersion: 'v1', kind: 'Secret', metadata: {...metadata, annotations}, type: 'Opaque', data, immutable: true};
	const text = describeSecret(object, nowMs);
	t.regex(text, /^Type: +Opaque\nImmutable: +true\nData:\n {2}password: +6 bytes\n {2}empty: +0 bytes\n {2}long: +100 bytes\n$/m);
	t.false(text.includes(data.password) || text.includes('s3cr3t'));
	t.regex(describeSecret({...object, data: {}}, nowMs), /\nData: {2}<none>\n$/);
});

test('describe shows the values of a ConfigMap, with what would move the terminal shown', t => {
	const data = {colour: 'green', text: 'one\n\u001b[31mtwo'};
	const object: ConfigMap = {apiVersion: 'v1', kind: 'ConfigMap', metadata, data, binaryData: {logo: 'AAEC'}};
	t.regex(
		describeConfigMap(object, nowMs),
		/Data:\n {2}colour:\n {4}green\n {2}text:\n {4}one\n {4}\^\[\[31mtwo\nBinary Data:\n {2}logo: +3 bytes\n$/,
	);
	t.false(describeConfigMap(object, nowMs).includes('\u001b'));
});
