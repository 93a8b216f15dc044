import test from 'ava';
import {isSecretMember} from '../../actors/secret-members.js';
import {lastAppliedAnnotation, sealedPrefix} from '../../api/sealed.js';

test('values of Secrets, sealed texts, logins and variables made of Secrets are secret; what stands beside them is not', t => {
	const secret = {apiVersion: 'v1', kind: 'Secret', metadata: {name: 'db'}, data: {a: 'b'}, stringData: {a: 'b'}};
	const of = (holder: object, member: string): boolean =>
		isSecretMember(holder, member, (holder as Readonly<Record<string, unknown>>)[member]);
	for (const member of ['data', 'stringData']) t.true(of(secret, member), member);
	for (const member of ['kind', 'metadata', 'apiVersion']) t.false(of(secret, member), member);
	t.false(of({kind: 'ConfigMap', data: {a: 'b'}}, 'data'));
	t.true(of({name: 'A', value: 'x', isSecret: true}, 'value'));
	t.false(of({name: 'A', value: 'x', isSecret: true}, 'name'));
	t.false(of({name: 'A', value: 'x'}, 'value'));
	t.true(of({anything: `${sealedPrefix}abc`}, 'anything'));
	t.true(of({[lastAppliedAnnotation]: '{"kind":"Secret"}'}, lastAppliedAnnotation));
	t.false(of({[lastAppliedAnnotation]: '{"kind":"Pod"}'}, lastAppliedAnnotation));
	for (const member of ['token', 'password', 'credential']) t.true(of({[member]: 'x'}, member), member);
	t.false(of({token: undefined}, 'token'));
	t.true(isSecretMember(new Map(), 'password', 'x'));
	const token = `uid/2-Each.1.0/1-Ask.1~${'0a1b'.repeat(10)}`;
	for (const text of [token, `https://example.com/${token}/yes`])
		t.true(of({link: text}, 'link') && isSecretMember([text], '0', text), text);
	for (const text of ['uid/1-Ask.1', `~${'0a1b'.repeat(10)}`, 'v1.2~3']) t.false(of({link: text}, 'link'), text);
	t.deepEqual(
		[isSecretMember(new Map(), 'secret', 'x'), isSecretMember(new Map(), 'frame/', {}), of({secret: 'x'}, 'secret')],
		[true, false, false],
	);
});
