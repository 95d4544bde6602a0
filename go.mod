module example.com/agl

go 1.26

require (
	github.com/google/go-cmp v0.7.0
	github.com/stretchr/testify v1.12.1
	golang.org/x/sys v0.47.0
	golang.org/x/tools v0.48.0
)

require go.yaml.in/yaml/v3 v3.0.5 // indirect
