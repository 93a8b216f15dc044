// Bad requests whose fault is not in the bytes of a document alone: where it goes, as what it is sent, what is there already. Each is
// refused by the API with its cause and place, and changes nothing. There is a pod `corpus` of version `{version}`.

export type BadRequest = {
	readonly name: string;
	readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'GET';
	readonly path: string;
	readonly body?: object | string;
	/** `application/json` where there is a body, merge patch for a PATCH. */
	readonly type?: string;
	readonly headers?: Readonly<Record<string, string>>;
	readonly status: number;
	/** The message of the Status matches this. */
	readonly says: RegExp;
};

const pods = '/api/v1/namespaces/default/pods';
const corpus = `${pods}/corpus`;
const container = {name: 'main', image: 'none', command: ['serve']};

const aPod = (more: object = {}, metadata: object = {}): object => ({
	apiVersion: 'v1',
	kind: 'Pod',
	metadata: {name: 'other', ...metadata},
	spec: {containers: [container], ...more},
});

const aSet = (spec: object): object => ({
	apiVersion: 'apps/v1',
	kind: 'ReplicaSet',
	metadata: {name: 'other'},
	spec: {
		replicas: 1,
		selector: {matchLabels: {app: 'x'}},
		template: {metadata: {labels: {app: 'x'}}, spec: {containers: [container]}},
		...spec,
	},
});
const sets = '/apis/apps/v1/namespaces/default/replicasets';

const post = (name: string, body: object | string, status: number, says: RegExp, path = pods): BadRequest => ({
	name,
	method: 'POST',
	path,
	body,
	status,
	says,
});

const patch = (name: string, body: object | string, status: number, says: RegExp, path = corpus): BadRequest => ({
	name,
	method: 'PATCH',
	path,
	body,
	status,
	says,
});

const jsonPatch = (name: string, body: object, status: number, says: RegExp): BadRequest => ({
	...patch(name, body, status, says),
	type: 'application/json-patch+json',
});

const strategic = (name: string, body: object, status: number, says: RegExp): BadRequest => ({
	...patch(name, body, status, says),
	type: 'application/strategic-merge-patch+json',
});

export const badRequests: readonly BadRequest[] = [
	// ---- where it goes
	post('a kind that there is not', aPod(), 404, /could not find the requested resource/, '/api/v1/namespaces/default/poods'),
	post('a version that there is not', aPod(), 404, /could not find the requested resource/, '/api/v2/namespaces/default/pods'),
	post('a group that there is not', aPod(), 404, /could not find the requested resource/, '/apis/nope/v1/namespaces/default/pods'),
	post('a namespace that there is not', aPod(), 404, /^namespaces "nowhere" not found$/, '/api/v1/namespaces/nowhere/pods'),
	post('an object at the path of another kind', aPod(), 400, /the body is a Pod of v1; this path takes a ReplicaSet of apps\/v1/, sets),
	post(
		'another namespace than that of the path',
		aPod({}, {namespace: 'kube-system'}),
		400,
		/namespace of the provided object does not match/,
	),
	{
		name: 'another name than that of the path',
		method: 'PUT',
		path: corpus,
		body: aPod(),
		status: 400,
		says: /name of the object \(other\) does not match/,
	},
	{
		name: 'a replacement of what is not there',
		method: 'PUT',
		path: `${pods}/other`,
		body: aPod(),
		status: 404,
		says: /^pods "other" not found$/,
	},
	patch('a patch of what is not there', {metadata: {labels: {a: 'b'}}}, 404, /^pods "nobody" not found$/, `${pods}/nobody`),
	{name: 'a deletion of what is not there', method: 'DELETE', path: `${pods}/nobody`, status: 404, says: /^pods "nobody" not found$/},
	{name: 'a name that climbs', method: 'DELETE', path: `${pods}/..%2f..%2fcorpus`, status: 404, says: /not found/},
	// ---- as what it is sent
	{
		name: 'a form',
		method: 'POST',
		path: pods,
		body: 'a=b',
		type: 'application/x-www-form-urlencoded',
		status: 415,
		says: /media types include: application\/json/,
	},
	{
		name: 'protocol buffers',
		method: 'POST',
		path: pods,
		body: 'k8s\0',
		type: 'application/vnd.kubernetes.protobuf',
		status: 415,
		says: /media types include/,
	},
	strategic(
		'a strategic patch of an item without its key',
		{spec: {containers: [{image: 'x'}]}},
		422,
		/spec\.containers\[0\]: has no name/,
	),
	strategic('a strategic patch with an unknown word', {spec: {$patch: 'add'}}, 422, /must be merge, replace or delete, got "add"/),
	strategic('a strategic patch with an unknown directive', {spec: {$move: 'x'}}, 422, /spec\["\$move"\]: is no directive/),
	strategic('a strategic patch of a past version', {metadata: {resourceVersion: '1'}}, 409, /modified/),
	strategic('a strategic patch that takes all away', {$patch: 'delete'}, 400, /apiVersion is required/),
	{
		name: 'a patch for server-side apply',
		method: 'PATCH',
		path: corpus,
		body: '{}',
		type: 'application/apply-patch+yaml',
		status: 415,
		says: /include: application\/json-patch\+json, application\/merge-patch\+json, application\/strategic-merge-patch\+json$/,
	},
	jsonPatch('a JSON patch that is no list', {op: 'remove', path: '/spec'}, 400, /a JSON patch is a list of operations, got an object/),
	jsonPatch(
		'a JSON patch of a strange operation',
		[{op: 'set', path: '/spec', value: {}}],
		400,
		/patch\[0\]: op must be one of .*got "set"/,
	),
	jsonPatch('a JSON patch without a path', [{op: 'remove'}], 400, /patch\[0\]: path must be a JSON pointer/),
	jsonPatch('a JSON patch without a value', [{op: 'add', path: '/metadata/labels'}], 400, /patch\[0\]: add needs a value/),
	jsonPatch(
		'a JSON patch whose test fails',
		[
			{op: 'add', path: '/metadata/labels', value: {a: 'b'}},
			{op: 'test', path: '/metadata/name', value: 'other'},
		],
		422,
		/^Pod "corpus" is invalid: patch\[1\]: testing value \/metadata\/name failed: test failed$/,
	),
	jsonPatch(
		'a JSON patch of a place that there is not',
		[{op: 'replace', path: '/spec/containers/1/image', value: 'x'}],
		422,
		/patch\[0\]: replace operation does not apply: doc is missing path: "\/spec\/containers\/1\/image": missing value/,
	),
	jsonPatch('a JSON patch that takes all away', [{op: 'remove', path: ''}], 400, /an object is expected, got nothing/),
	jsonPatch('a JSON patch of a past version', [{op: 'replace', path: '/metadata/resourceVersion', value: '1'}], 409, /modified/),
	jsonPatch(
		'a JSON patch that copies without end',
		Array.from({length: 64}, (_, at) => ({op: 'copy', from: '/spec', path: `/spec/again${at}`})),
		413,
		/patch\[\d+\]: the accumulated size of copies exceeds/,
	),
	jsonPatch(
		'a JSON patch of too many operations',
		Array.from({length: 10_001}, () => ({op: 'test', path: '/kind', value: 'Pod'})),
		413,
		/the allowed maximum operations in a JSON patch is 10000, got 10001/,
	),
	{
		name: 'a compressed body',
		method: 'POST',
		path: pods,
		body: 'x',
		headers: {'content-encoding': 'gzip'},
		status: 415,
		says: /the body is compressed; send it as it is/,
	},
	// ---- what is there already
	post('a name that is taken', aPod({}, {name: 'corpus'}), 409, /^pods "corpus" already exists$/),
	{
		name: 'a version that is past',
		method: 'PUT',
		path: corpus,
		body: aPod({}, {name: 'corpus', resourceVersion: '1'}),
		status: 409,
		says: /^Operation cannot be fulfilled on pods "corpus": the object has been modified/,
	},
	patch('a version that is past, in a patch', {metadata: {resourceVersion: '1', labels: {a: 'b'}}}, 409, /the object has been modified/),
	patch('a version that is none', {metadata: {resourceVersion: 'rubbish', labels: {a: 'b'}}}, 409, /modified/),
	patch(
		'a field that may not change',
		{spec: {containers: [{...container, image: 'else', command: ['else']}]}},
		422,
		/spec\.containers\[0\]\.command: cannot be changed/,
	),
	patch('another uid', {metadata: {uid: '00000000-0000-0000-0000-000000000000', labels: {a: 'b'}}}, 409, /uid|modified/),
	patch('the kind taken away', {kind: null, spec: null}, 400, /^kind is required, got nothing$/),
	// ---- fields
	post('a field that there is not', aPod({contaners: []}), 422, /spec\.contaners: unknown field .*did you mean "containers"\?/),
	post(
		'a field in the wrong case',
		aPod({RestartPolicy: 'Never'}),
		422,
		/spec\.RestartPolicy: unknown field .*did you mean "restartPolicy"\?/,
	),
	post('a value in the wrong case', aPod({restartPolicy: 'never'}), 422, /spec\.restartPolicy: must be .*got "never"/),
	post('a kind in the wrong case', {...aPod(), kind: 'pod'}, 422, /kind: there is no kind "pod" .*did you mean Pod\?/),
	post('text where a number belongs', aSet({replicas: 'many'}), 422, /spec\.replicas: must be an? .*got "many"/, sets),
	post('a list where an object belongs', {...aPod(), spec: []}, 422, /spec: must be an object, got an empty list/),
	post('an object where a list belongs', aPod({containers: {main: container}}), 422, /spec\.containers: must be a list .*got an object/),
	post('nothing where a list belongs', aPod({containers: []}), 422, /spec\.containers: /),
	post('missing fields', aPod({containers: [{name: 'main'}]}), 422, /spec\.containers\[0\]\.image: is required/),
	post('no name at all', {...aPod(), metadata: {}}, 422, /metadata\.name: a name or generateName is required/),
	post('a name in upper case', aPod({}, {name: 'Other'}), 422, /metadata\.name: must be lower-case .*got "Other"/),
	post('an empty name', aPod({}, {name: ''}), 422, /metadata\.name: /),
	post('a label that is none', aPod({}, {labels: {'a b': 'c'}}), 422, /metadata\.labels/),
	post('two containers of one name', aPod({containers: [container, container]}), 422, /spec\.containers\[1\]\.name: .*main/),
	// ---- numbers
	post('fewer than none', aSet({replicas: -1}), 422, /spec\.replicas: must be .*got -1/, sets),
	post('half of one', aSet({replicas: 0.5}), 422, /spec\.replicas: must be .*got 0\.5/, sets),
	post('more than a number can say', aSet({replicas: 1e300}), 422, /spec\.replicas: must be .*got 1e\+300/, sets),
	post(
		'a port beyond all ports',
		aPod({containers: [{...container, ports: [{containerPort: 65_536}]}]}),
		422,
		/containerPort: must be .*got 65536/,
	),
	post('a grace before it begins', aPod({terminationGracePeriodSeconds: -1}), 422, /terminationGracePeriodSeconds: must be .*got -1/),
	post(
		'an amount that is none',
		aPod({containers: [{...container, resources: {requests: {cpu: 'lots'}}}]}),
		422,
		/resources\.requests\.cpu: .*"lots"/,
	),
	{name: 'a page of fewer than none', method: 'GET', path: `${pods}?limit=-1`, status: 400, says: /limit/},
	{name: 'a timeout that is no number', method: 'GET', path: `${pods}?watch=true&timeoutSeconds=soon`, status: 400, says: /timeoutSeconds/},
	{name: 'a grace that is no number', method: 'DELETE', path: `${corpus}?gracePeriodSeconds=soon`, status: 400, says: /gracePeriodSeconds/},
	{
		name: 'a selector that is none',
		method: 'GET',
		path: `${pods}?labelSelector=${encodeURIComponent('a in (')}`,
		status: 400,
		says: /labelSelector|selector/,
	},
	{name: 'a dry run of another sort', method: 'POST', path: `${pods}?dryRun=perhaps`, body: aPod(), status: 400, says: /dryRun/},
];
