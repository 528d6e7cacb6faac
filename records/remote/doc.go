// Package remote reads and writes files behind URLs. A program that imports it can give such a name
// wherever package records, its subpackages and package dedup expect the path of a file of
// documents or of an output:
//
//	import _ "github.com/simdb/simdb/records/remote"
//
//	src, err := records.Open("s3://corpus/2024/part-1.jsonl.zst", records.Options{})
//
// The names are:
//
//	https://HOST/PATH, http://...        any web server; written by PUT
//	s3://BUCKET/KEY                      Amazon S3 and compatible stores
//	gs://BUCKET/KEY                      Google Cloud Storage
//	hf://datasets/OWNER/NAME[@REV]/PATH  the Hugging Face Hub, also spaces/... and OWNER/NAME/PATH; written by commits
//
// Names with s3, gs and hf may be patterns: s3://corpus/2024/*.parquet.
//
// S3 finds endpoint, region and credentials where the AWS tools do: in AWS_ENDPOINT_URL_S3,
// AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID and related variables; in the profile AWS_PROFILE
// of ~/.aws/config and ~/.aws/credentials; in a container or an EC2 instance. If there are none,
// requests are anonymous. gs uses a token in CLOUDSDK_AUTH_ACCESS_TOKEN or
// GOOGLE_OAUTH_ACCESS_TOKEN, the HMAC key GS_ACCESS_KEY_ID with GS_SECRET_ACCESS_KEY, or the file that
// GOOGLE_APPLICATION_CREDENTIALS names: the key of a service account, or what `gcloud auth
// application-default login` writes. STORAGE_EMULATOR_HOST is another endpoint. hf uses HF_TOKEN, or the
// token of `hf auth login`, and HF_ENDPOINT.
//
// A file is read from its beginning to its end by two requests; Parquet files, of which few columns
// are used, by ranges. After a broken connection, reading continues where it stopped. It fails if
// the file has changed in the meantime according to its ETag, its time or its size. Requests are
// repeated after errors of the network and of the server; Retry-After is respected.
//
//	store.go   the stores and their names
//	client.go  requests, repetitions, errors
//	file.go    reading a file, also after broken connections
//	ranges.go  reading parts of a file, and what follows them
//	pieces.go  reading exactly the parts of a packed table that are needed
//	bucket.go  S3 and Google Cloud Storage: addresses, credentials, lists
//	google.go  credentials of Google Cloud Storage
//	hub.go     the Hugging Face Hub
//	commit.go  writing files to it
//	upload.go  writing files
package remote
