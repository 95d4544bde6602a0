module example.com/cases

go 1.26

require (
	example.com/agl v0.0.0
	golang.org/x/sync v0.0.0
)

replace example.com/agl => ./agl

replace golang.org/x/sync => ./sync
